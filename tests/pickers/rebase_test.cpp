#include "pickers/rebase.hpp"

#include <gtest/gtest.h>

#include "ops/operation.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = 1 << 20;

ImageRecipe image(std::string id, std::string format, std::uint64_t size,
                  std::optional<std::string> backing = std::nullopt) {
    ImageRecipe recipe;
    recipe.id = std::move(id);
    recipe.format = std::move(format);
    recipe.size = size;
    recipe.backing = std::move(backing);
    return recipe;
}

Step rebase(const std::string& id, std::vector<Argument> arguments) {
    arguments.push_back({"", ImageValue{id}});
    return {Actor::tool, "rebase", "rebase", ValidIntent{}, std::move(arguments)};
}

std::vector<Argument> onto(const std::string& base, const std::string& format) {
    return {{"-b", ImageValue{base}}, {"-F", WordValue{format}}};
}

std::vector<Argument> unsafely(std::vector<Argument> arguments) {
    arguments.insert(arguments.begin(), {"-u", std::nullopt});
    return arguments;
}

const std::vector<Argument> onto_nothing{{"-b", LiteralValue{""}}};

// top on mid on low; other apart.
Case case_of(std::vector<Step> steps) {
    Case c;
    c.operation = "rebase";
    c.images = {image("low", "raw", 2 * mib), image("mid", "qcow2", 2 * mib, "low"),
                image("top", "qcow2", 2 * mib, "mid"), image("other", "qcow2", mib)};
    c.steps = std::move(steps);
    return c;
}

using Names = std::vector<std::string>;

Names rules_of(const Case& c) {
    Names names;
    for (const Violation& violation : validate(c)) {
        names.push_back(violation.rule);
    }
    return names;
}

Names rules_of(std::vector<Argument> arguments) {
    return rules_of(case_of({rebase("top", std::move(arguments))}));
}

TEST(RebasePicker, TakesOtherImagesAndNone) {
    for (const auto& arguments :
         {onto("other", "qcow2"), onto("low", "raw"), onto("mid", "qcow2"), onto_nothing}) {
        EXPECT_EQ(rules_of(arguments), Names{});
        EXPECT_EQ(rules_of(unsafely(arguments)), Names{});
    }
    EXPECT_EQ(rules_of(unsafely({})), Names{});
    EXPECT_EQ(rules_of(std::vector<Argument>{}), Names{"no-backing-named"});
}

TEST(RebasePicker, BoundsTheFormat) {
    EXPECT_EQ(rules_of(onto("other", "vmdk")), Names{"other-backing-format"});
    for (const auto& arguments :
         {onto("other", "raw"), onto("low", "qcow2"), unsafely(onto("other", "vmdk"))}) {
        EXPECT_EQ(rules_of(arguments), Names{"own-backing-format"});
    }
    EXPECT_EQ(rules_of({{"-b", ImageValue{"other"}}}), Names{"backing-without-format"});
    EXPECT_EQ(rules_of({{"-b", LiteralValue{""}}, {"-F", WordValue{"raw"}}}),
              Names{"format-without-backing"});
    EXPECT_EQ(rules_of(case_of({rebase("low", onto("other", "qcow2"))})),
              Names{"backing-unsupported"});
}

TEST(RebasePicker, LetsNoImageLieOnItself) {
    EXPECT_EQ(rules_of(onto("top", "qcow2")), Names{"backing-loop"});
    EXPECT_EQ(rules_of(unsafely(onto("top", "qcow2"))), Names{"unguarded-backing-loop"});
    EXPECT_EQ(rules_of(case_of({rebase("mid", onto("top", "qcow2"))})), Names{"backing-loop"});
}

TEST(RebasePicker, KeepsClearOfShortImagesInTheChain) {
    Case c = case_of({rebase("top", onto("low", "raw"))});
    c.images[1].size = mib;
    EXPECT_EQ(rules_of(c), Names{"short-image-above-base"});
    c.steps[0] = rebase("top", unsafely(onto("low", "raw")));
    EXPECT_EQ(rules_of(c), Names{});
    c.steps[0] = rebase("top", onto("other", "qcow2"));
    EXPECT_EQ(rules_of(c), Names{});
}

TEST(RebasePicker, KnowsWhatItDoesNotKnow) {
    const Step safe = rebase("top", onto("other", "qcow2"));
    EXPECT_EQ(rules_of(case_of({safe, rebase("top", onto_nothing)})), Names{});
    EXPECT_EQ(rules_of(case_of({safe, rebase("top", unsafely(onto("low", "raw")))})),
              Names{"unsure-what-shows"});
    Case zeros = case_of({rebase("other", unsafely(onto("low", "raw")))});
    EXPECT_EQ(rules_of(zeros), Names{});
    zeros.images[3].content = {{WriteKind::zero, 0, 512, {}}};
    EXPECT_EQ(rules_of(zeros), Names{"unsure-what-shows"});
    zeros.images[3].snapshots = {{"a", 1}};
    zeros.steps[0] = rebase("other", onto("low", "raw"));
    EXPECT_EQ(rules_of(zeros), Names{"unsure-what-shows"});
}

TEST(RebasePicker, HidesNothingWithVersionTwoAlone) {
    Case c = case_of({rebase("other", onto("low", "raw"))});
    EXPECT_EQ(rules_of(c), Names{});
    c.images[3].options = {{"compat", WordValue{"v2"}}};
    EXPECT_EQ(rules_of(c), Names{"nothing-to-hide-with"});
    c.images[3].backing = "low";
    EXPECT_EQ(rules_of(c), Names{});
}

TEST(RebasePicker, DrawsEveryWay) {
    Plan plan = default_plan();
    plan.operations = {{"rebase", 1}};
    plan.refused_percent = 0;
    plan.damaged_percent = 0;
    unsigned none = 0;
    unsigned inside = 0;
    unsigned longer = 0;
    unsigned shorter = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const Case c = draw_case(plan, 3, i, 0);
        ASSERT_FALSE(c.steps.empty()) << i;
        const CaseState state = state_before(c, rebase_picker().kinds, c.steps.size() - 1);
        const std::string id = image_of_step(last_step(c));
        const auto* base = option_value<ImageValue>(last_step(c), "-b");
        if (base == nullptr) {
            ++none;
            continue;
        }
        const auto chain = chain_of(state, id);
        inside += std::ranges::find(chain, base->id) != chain.end() ? 1U : 0U;
        longer += state.at(base->id).own.size > state.at(id).own.size ? 1U : 0U;
        shorter += state.at(base->id).own.size < state.at(id).own.size ? 1U : 0U;
    }
    EXPECT_GE(none, 100U);
    EXPECT_GE(inside, 100U);
    EXPECT_GE(longer, 100U);
    EXPECT_GE(shorter, 100U);
}

}  // namespace
}  // namespace difffuzz

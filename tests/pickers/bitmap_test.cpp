#include "pickers/bitmap.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/tools/dialect.hpp"
#include "ops/operation.hpp"
#include "pickers/bitmap_actions.hpp"
#include "pickers/byte_names.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ImageRecipe qcow2(const std::string& id, std::uint64_t size) {
    ImageRecipe image;
    image.id = id;
    image.format = "qcow2";
    image.size = size;
    return image;
}

Step call(std::vector<Argument> arguments, const std::string& id, const std::string& name) {
    Step step{Actor::tool, "bitmap", "bitmap", ValidIntent{}, std::move(arguments)};
    step.arguments.push_back({"", ImageValue{id}});
    step.arguments.push_back({"", byte_name(name)});
    return step;
}

Case sample(std::vector<Step> steps) {
    Case c;
    c.operation = "bitmap";
    c.images = {qcow2("src", 1 << 20), qcow2("other", 1 << 20), qcow2("longer", 2 << 20)};
    c.steps = std::move(steps);
    return c;
}

const Argument add{"--add", std::nullopt};
const Argument remove_it{"--remove", std::nullopt};
const Argument clear_it{"--clear", std::nullopt};
const Argument disable{"--disable", std::nullopt};
Argument merge(const std::string& name) { return {"--merge", byte_name(name)}; }

std::vector<std::string> rules_of(const Case& c) {
    std::vector<std::string> rules;
    for (const Violation& violation : validate_case(bitmap_picker(), c)) {
        rules.push_back(violation.rule);
    }
    return rules;
}

TEST(Bitmap, ActionsAreDoneInTheirOrder) {
    const Case c = sample({call({add, disable}, "src", "b0"), call({add, remove_it}, "src", "b1"),
                           call({remove_it, add, {"-g", suffixed_size(512)}}, "src", "b0"),
                           call({add, merge("b0"), disable}, "src", "b2")});
    EXPECT_THAT(rules_of(c), IsEmpty());
    CaseState state = state_before(c, bitmap_kinds(), 1);
    ASSERT_EQ(state.at("src").bitmaps.size(), 1U);
    EXPECT_EQ(state.at("src").bitmaps[0].granularity, 65536U);
    EXPECT_FALSE(state.at("src").bitmaps[0].enabled);
    state = state_before(c, bitmap_kinds(), 4);
    ASSERT_EQ(state.at("src").bitmaps.size(), 2U);
    EXPECT_EQ(state.at("src").bitmaps[0].granularity, 512U);
    EXPECT_TRUE(state.at("src").bitmaps[0].enabled);
    EXPECT_EQ(state.at("src").bitmaps[1].name, "b2");
    EXPECT_FALSE(state.at("src").bitmaps[1].enabled);
}

TEST(Bitmap, NamesTheRuleOfTheFirstActionThatIsRefused) {
    const auto one = [](std::vector<Argument> arguments, const std::string& name) {
        return rules_of(
            sample({call({add}, "src", "b0"), call(std::move(arguments), "src", name)}));
    };
    EXPECT_THAT(one({add}, "b0"), ElementsAre("bitmap-exists"));
    EXPECT_THAT(one({add, add}, "b1"), ElementsAre("bitmap-exists"));
    EXPECT_THAT(one({disable, add}, "b1"), ElementsAre("no-such-bitmap"));
    EXPECT_THAT(one({merge("b1")}, "b0"), ElementsAre("no-such-source-bitmap"));
    EXPECT_THAT(one({add, {"-g", plain_size(1000)}}, "b1"), ElementsAre("granularity-range"));
    EXPECT_THAT(one({add, {"-g", plain_size(std::uint64_t{1} << 32)}}, "b1"),
                ElementsAre("granularity-range"));
    EXPECT_THAT(one({add, {"-g", plain_size(0)}}, "b1"), IsEmpty());
    EXPECT_THAT(one({clear_it, {"-g", plain_size(512)}}, "b0"),
                ElementsAre("granularity-without-add"));
    EXPECT_THAT(one({add}, ""), ElementsAre("empty-name"));
    EXPECT_THAT(one({add}, std::string(1023, 'n')), IsEmpty());
    EXPECT_THAT(one({add}, std::string(1024, 'n')), ElementsAre("name-too-long"));
}

TEST(Bitmap, MergesFromAnotherFileOfTheSameSize) {
    const auto from = [](const std::string& file, const char* format) {
        return rules_of(sample(
            {call({add}, "src", "b0"), call({add}, "other", "b1"), call({add}, "longer", "b1"),
             call({merge("b1"), {"-b", ImageValue{file}}, {"-F", WordValue{format}}}, "src",
                  "b0")}));
    };
    EXPECT_THAT(from("other", "qcow2"), IsEmpty());
    EXPECT_THAT(from("longer", "qcow2"), ElementsAre("source-of-another-size"));
    EXPECT_THAT(from("src", "qcow2"), ElementsAre("source-in-use"));
    EXPECT_THAT(from("other", "raw"), ElementsAre("own-source-format"));
    EXPECT_THAT(from("other", "vpc"), ElementsAre("other-source-format"));
}

TEST(Bitmap, BoundsTheMemory) {
    Case c = sample({call({add, {"-g", plain_size(512)}}, "src", "b0")});
    c.images[0].size = std::uint64_t{1} << 40;
    EXPECT_THAT(rules_of(c), ElementsAre("too-many-bits"));
}

TEST(Bitmap, KeepsTheOrderOnTheCommandLine) {
    const Case c = sample({call({disable, {"-g", plain_size(512)}, add}, "src", "a b")});
    EXPECT_THAT(render_step(c, c.steps[0]),
                ElementsAre("bitmap", "--disable", "-g", "512", "--add", "src.qcow2", "a b"));
}

TEST(Bitmap, DrawsManyStepsAndEveryAction) {
    std::map<std::string, unsigned> seen;
    Plan plan = default_plan();
    for (std::uint64_t i = 0; i < 1000; ++i) {
        DrawState draws = Draws::start(3, i, 0);
        const Case c = bitmap_picker().draw_valid({Draws(draws), plan});
        ASSERT_THAT(rules_of(c), IsEmpty()) << i;
        seen["several steps"] += c.steps.size() > 1 ? 1U : 0U;
        std::set<std::string> in_case;
        for (const Step& step : c.steps) {
            in_case.insert(step.operation + " step");
            unsigned actions = 0;
            for (const Argument& argument : step.arguments) {
                actions += is_bitmap_action(argument.option) ? 1U : 0U;
                if (!argument.option.empty()) {
                    in_case.insert(argument.option);
                }
            }
            if (actions > 1) {
                in_case.insert("several actions");
            }
            const auto name = bitmap_of_step(step);
            if (name && name->size() == max_bitmap_name) {
                in_case.insert("longest name");
            }
        }
        for (const std::string& kind : in_case) {
            ++seen[kind];
        }
    }
    for (const char* kind :
         {"several steps", "several actions", "longest name", "bitmap step", "io step", "--add",
          "--remove", "--clear", "--enable", "--disable", "--merge", "-b", "-F", "-g", "-f"}) {
        EXPECT_GE(seen[kind], 40U) << kind;
    }
}

}  // namespace
}  // namespace difffuzz

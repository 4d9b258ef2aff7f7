#include "pickers/commit.hpp"

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

// top on mid on low.
Case chain(std::string low_format, std::uint64_t low_size, std::vector<Argument> arguments) {
    Case c;
    c.operation = "commit";
    c.images = {image("low", std::move(low_format), low_size),
                image("mid", "qcow2", 2 * mib, "low"), image("top", "qcow2", 2 * mib, "mid")};
    arguments.push_back({"", ImageValue{"top"}});
    c.steps = {{Actor::tool, "commit", "commit", ValidIntent{}, std::move(arguments)}};
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

const Argument onto_low{"-b", ImageValue{"low"}};

TEST(CommitPicker, TakesAnyImageBelow) {
    EXPECT_EQ(rules_of(chain("raw", 2 * mib, {})), Names{});
    EXPECT_EQ(rules_of(chain("raw", 2 * mib, {onto_low})), Names{});
    EXPECT_EQ(rules_of(chain("raw", 2 * mib, {{"-b", ImageValue{"top"}}})),
              Names{"base-not-in-chain"});
    Case other = chain("raw", 2 * mib, {{"-b", ImageValue{"other"}}});
    other.images.push_back(image("other", "raw", mib));
    EXPECT_EQ(rules_of(other), Names{"base-not-in-chain"});
    Case bottom = chain("raw", 2 * mib, {});
    bottom.steps[0].arguments.back().value = ImageValue{"low"};
    EXPECT_EQ(rules_of(bottom), Names{"no-backing-file"});
}

TEST(CommitPicker, KnowsWhatCanGrow) {
    for (const char* format : {"raw", "qcow2", "qed"}) {
        EXPECT_EQ(rules_of(chain(format, mib, {onto_low})), Names{}) << format;
    }
    for (const char* format : {"vmdk", "vpc", "vdi"}) {
        EXPECT_EQ(rules_of(chain(format, mib, {onto_low})), Names{"base-cannot-grow"}) << format;
        EXPECT_EQ(rules_of(chain(format, 3 * mib, {onto_low})), Names{}) << format;
    }
    Case old = chain("qcow2", mib, {onto_low});
    old.images[0].options = {{"compat", WordValue{"0.10"}}};
    EXPECT_EQ(rules_of(old), Names{});
    old.images[0].snapshots = {{"a", 0}};
    EXPECT_EQ(rules_of(old), Names{"version-2-resize"});
    Case hiding = chain("raw", 4 * mib, {});
    hiding.images[2].size = 3 * mib;
    EXPECT_EQ(rules_of(hiding), Names{});
    hiding.images[1].options = {{"compat", WordValue{"0.10"}}};
    EXPECT_EQ(rules_of(hiding), Names{"version-2-resize"});
    hiding.images[1].options = {{"extended_l2", WordValue{"on"}}};
    EXPECT_EQ(rules_of(hiding), Names{});
    hiding.images[1].size -= 512;
    EXPECT_EQ(rules_of(hiding), Names{"zeros-in-last-cluster"});
}

TEST(CommitPicker, KeepsClearOfWhatTheReferenceBreaks) {
    Case c = chain("parallels", 2 * mib, {onto_low});
    EXPECT_EQ(rules_of(c), Names{"base-not-writable"});
    c = chain("raw", 2 * mib, {});
    c.images[1] = image("mid", "qed", 2 * mib, "low");
    EXPECT_EQ(rules_of(c), Names{"qed-over-another"});
    c = chain("vmdk", 2 * mib, {onto_low});
    c.images[1] = image("mid", "vmdk", 2 * mib, "low");
    EXPECT_EQ(rules_of(c), Names{"parent-of-vmdk"});
    EXPECT_EQ(rules_of(chain("raw", 2 * mib, {{"-r", plain_size(1)}})), Names{"slow"});
    EXPECT_EQ(rules_of(chain("raw", 2 * mib, {{"-r", plain_size(0)}})), Names{});
    Case large = chain("raw", 2 * mib, {});
    large.images[2].size = 257 * mib;
    EXPECT_EQ(rules_of(large), Names{"slow"});
}

TEST(CommitPicker, EmptiesTheImageUnlessToldNotTo) {
    const auto held = [](std::vector<Argument> arguments) {
        Case c = chain("raw", 2 * mib, std::move(arguments));
        c.images[2].content = {{WriteKind::write, 0, 512, ByteFill{1}}};
        CaseState state = initial_state(c);
        EXPECT_EQ(commit_kind().apply(c, c.steps[0], state), "");
        return !state.at("top").own.held.ranges().empty();
    };
    EXPECT_FALSE(held({}));
    EXPECT_TRUE(held({{"-d", std::nullopt}}));
    EXPECT_TRUE(held({{"-b", ImageValue{"mid"}}}));
}

TEST(CommitPicker, ChangesTheImageAndTheOneCommittedInto) {
    const Case c = chain("raw", 2 * mib, {onto_low});
    EXPECT_EQ(commit_kind().changes(c, c.steps[0], initial_state(c)), (Names{"top", "low"}));
    const Case direct = chain("raw", 2 * mib, {});
    EXPECT_EQ(commit_kind().changes(direct, direct.steps[0], initial_state(direct)),
              (Names{"top", "mid"}));
}

TEST(CommitPicker, DrawsChainsAndBasesFurtherDown) {
    Plan plan = default_plan();
    plan.operations = {{"commit", 1}};
    plan.refused_percent = 0;
    plan.damaged_percent = 0;
    unsigned deep = 0;
    unsigned larger = 0;
    unsigned below = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const Case c = draw_case(plan, 3, i, 0);
        ASSERT_FALSE(c.steps.empty()) << i;
        deep += c.images.size() >= 3 ? 1U : 0U;
        const CaseState state = initial_state(c);
        const auto* base = option_value<ImageValue>(last_step(c), "-b");
        const ImageState& image = state.at(image_of_step(last_step(c)));
        below += base != nullptr && base->id != image.backing ? 1U : 0U;
        larger += image.backing && state.at(*image.backing).own.size < image.own.size ? 1U : 0U;
    }
    EXPECT_GE(deep, 150U);
    EXPECT_GE(below, 50U);
    EXPECT_GE(larger, 200U);
}

}  // namespace
}  // namespace difffuzz

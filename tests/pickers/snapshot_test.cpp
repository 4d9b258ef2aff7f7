#include "pickers/snapshot.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "ops/operation.hpp"
#include "pickers/byte_names.hpp"
#include "pickers/rules.hpp"
#include "pickers/state_images.hpp"

namespace difffuzz {
namespace {

Step step_of(std::string action, std::optional<Value> value) {
    return {Actor::tool,
            "snapshot",
            "snapshot",
            ValidIntent{},
            {{std::move(action), std::move(value)}, {"", ImageValue{"src"}}}};
}

Case case_of(std::vector<Step> steps) {
    Case c;
    c.operation = "snapshot";
    ImageRecipe image;
    image.id = "src";
    image.format = "qcow2";
    image.size = 1 << 20;
    c.images = {image};
    c.steps = std::move(steps);
    return c;
}

std::vector<std::string> rules_of(const Case& c) {
    std::vector<std::string> names;
    for (const Violation& violation : validate(c)) {
        names.push_back(violation.rule);
    }
    return names;
}

using Names = std::vector<std::string>;

TEST(SnapshotPicker, AppliesByIdOrNameAndDeletesByName) {
    const Step make = step_of("-c", WordValue{"2"});
    EXPECT_EQ(rules_of(case_of({make})), Names{});
    EXPECT_EQ(rules_of(case_of({make, step_of("-a", WordValue{"1"})})), Names{});
    EXPECT_EQ(rules_of(case_of({make, step_of("-a", WordValue{"2"})})), Names{});
    EXPECT_EQ(rules_of(case_of({make, step_of("-d", WordValue{"1"})})), Names{"no-such-snapshot"});
    EXPECT_EQ(rules_of(case_of({make, make, step_of("-d", WordValue{"2"}),
                                step_of("-d", WordValue{"2"}), step_of("-d", WordValue{"2"})})),
              Names{"no-such-snapshot"});
    EXPECT_EQ(rules_of(case_of({step_of("-a", WordValue{""})})), Names{"no-such-snapshot"});
}

TEST(SnapshotPicker, TheLastStepIsHeldToItsModelToo) {
    const auto write = [](std::vector<Argument> what) {
        Step step{Actor::neutral, "io", "write", ValidIntent{}, {{"-f", WordValue{"qcow2"}}}};
        step.arguments.insert(step.arguments.end(), what.begin(), what.end());
        step.arguments.push_back({"", SizeValue{0, "0"}});
        step.arguments.push_back({"", SizeValue{512, "512"}});
        step.arguments.push_back({"", ImageValue{"src"}});
        return step;
    };
    const auto rules = [](std::vector<Step> steps) {
        Case c = case_of(std::move(steps));
        c.operation = "sequence";
        return rules_of(c);
    };
    const Step take = step_of("-c", WordValue{"a"});
    EXPECT_EQ(rules({take, write({{"-P", NumberValue{5}}})}), Names{});
    EXPECT_EQ(rules({take, write({})}), Names{"write-outside"});
    EXPECT_EQ(rules({write({}), take}), Names{"write-outside"});
}

TEST(SnapshotPicker, BoundsNamesAndNumbers) {
    EXPECT_EQ(rules_of(case_of({step_of("-c", WordValue{std::string(255, 'x')})})), Names{});
    EXPECT_EQ(rules_of(case_of({step_of("-c", WordValue{std::string(256, 'x')})})),
              Names{"name-too-long"});
    EXPECT_EQ(rules_of(case_of({step_of("-c", BytesValue{"\xff"})})), Names{});
    EXPECT_EQ(rules_of(case_of({step_of("-c", NumberValue{1})})), Names{"name-is-text"});
    Case narrow = case_of({step_of("-c", WordValue{"a"}), step_of("-c", WordValue{"b"}),
                           step_of("-c", WordValue{"c"})});
    narrow.images[0].options = {{"refcount_bits", NumberValue{2}}};
    EXPECT_EQ(rule_of_last_step(narrow, snapshot_picker().kinds), "refcounts-too-narrow");
    narrow.steps.pop_back();
    EXPECT_EQ(rule_of_last_step(narrow, snapshot_picker().kinds), "");
    narrow.steps.push_back(step_of("-a", WordValue{"a"}));
    EXPECT_EQ(rule_of_last_step(narrow, snapshot_picker().kinds), "refcounts-too-narrow");
    narrow.steps.back() = step_of("-d", WordValue{"a"});
    EXPECT_EQ(rule_of_last_step(narrow, snapshot_picker().kinds), "");
}

TEST(SnapshotPicker, TakesOneAction) {
    Case c = case_of({step_of("-l", std::nullopt)});
    EXPECT_EQ(rules_of(c), Names{});
    add_flag(c.steps[0], "-U");
    EXPECT_EQ(rules_of(c), Names{});
    c.steps[0].arguments.insert(c.steps[0].arguments.begin(), {"-c", WordValue{"x"}});
    EXPECT_EQ(rules_of(c), Names{"two-actions"});
    remove_option(c.steps[0], "-l");
    EXPECT_EQ(rules_of(c), Names{"force-share-to-write"});
    remove_option(c.steps[0], "-c");
    EXPECT_EQ(rules_of(c), Names{"no-action"});
    Case raw = case_of({step_of("-c", WordValue{"x"})});
    raw.images[0].format = "raw";
    EXPECT_EQ(rules_of(raw), Names{"snapshots-unsupported"});
}

TEST(SnapshotPicker, ChangesNothingByListing) {
    const Case c = case_of({step_of("-l", std::nullopt), step_of("-c", WordValue{"x"})});
    const CaseState state = initial_state(c);
    EXPECT_TRUE(snapshot_kind().changes(c, c.steps[0], state).empty());
    EXPECT_EQ(snapshot_kind().changes(c, c.steps[1], state), Names{"src"});
}

TEST(SnapshotPicker, DrawsNamesOfAllKinds) {
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < 500; ++i) {
        DrawState state = Draws::start(1, i, 0);
        const std::string name = draw_snapshot_name(Draws(state));
        EXPECT_EQ(*byte_name_in(byte_name(name)), name);
        names.insert(name);
    }
    for (const std::string& name : {std::string("2"), std::string("two words"), std::string("-l"),
                                    std::string("\xff\xfe\x80"), std::string(255, 'x')}) {
        EXPECT_TRUE(names.contains(name)) << name;
    }
    EXPECT_TRUE(std::ranges::all_of(names, [](const std::string& name) {
        return !name.empty() && name.find_first_of(":/{") == std::string::npos;
    })) << "what recipes cannot hold";
}

// Whether a campaign of a few hundred cases meets each of these.
TEST(SnapshotPicker, DrawsTwinsAndIdsAndSeveralSteps) {
    Plan plan = default_plan();
    plan.operations = {{"snapshot", 1}};
    plan.refused_percent = 0;
    unsigned twins = 0;
    unsigned by_id = 0;
    unsigned by_number = 0;
    unsigned long_cases = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const Case c = draw_case(plan, 3, i, 0);
        long_cases += c.steps.size() >= 4 ? 1U : 0U;
        CaseState state = initial_state(c);
        for (const Step& step : c.steps) {
            const StepKind& kind = *kind_of(snapshot_picker().kinds, step);
            const auto image = state.find(image_of_step(step));
            if (const Argument* apply = find_argument(step, "-a")) {
                const std::string& name = *byte_name_in(*apply->value);
                by_id += find_snapshot_named(image->second, name) == nullptr ? 1U : 0U;
            }
            if (const Argument* make = find_argument(step, "-c")) {
                const std::string& name = *byte_name_in(*make->value);
                twins += find_snapshot_named(image->second, name) != nullptr ? 1U : 0U;
                by_number += name == "1" || name == "2" ? 1U : 0U;
            }
            ASSERT_EQ(kind.apply(c, step, state), "") << i;
        }
    }
    EXPECT_GE(twins, 20U);
    EXPECT_GE(by_id, 20U);
    EXPECT_GE(by_number, 20U);
    EXPECT_GE(long_cases, 200U);
}

}  // namespace
}  // namespace difffuzz

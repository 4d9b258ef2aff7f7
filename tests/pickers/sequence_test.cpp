#include "pickers/sequence.hpp"

#include <map>

#include <gtest/gtest.h>

#include "ops/operation.hpp"
#include "pickers/rules.hpp"
#include "pickers/step_kind.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = 1 << 20;

Case two_images(std::vector<Step> steps) {
    Case c;
    c.operation = "sequence";
    ImageRecipe low;
    low.id = "low";
    low.format = "raw";
    low.size = mib;
    low.content = {{WriteKind::write, 0, 512, ByteFill{1}}};
    ImageRecipe top = low;
    top.id = "top";
    top.format = "qcow2";
    top.size = 2 * mib;
    top.backing = "low";
    top.content.clear();
    c.images = {low, top};
    c.outputs = {{"made1", "qcow2"}, {"made2", "raw"}};
    c.steps = std::move(steps);
    return c;
}

Step step_of(const char* command, std::vector<Argument> arguments) {
    return {Actor::tool, command, command, ValidIntent{}, std::move(arguments)};
}

const Argument qcow2{"-f", WordValue{"qcow2"}};
const Argument made1{"", ImageValue{"made1"}};
const Argument made2{"", ImageValue{"made2"}};
const Argument top{"", ImageValue{"top"}};

Step overlay(std::vector<Argument> more = {}) {
    std::vector<Argument> arguments{
        qcow2, {"-b", ImageValue{"top"}}, {"-F", WordValue{"qcow2"}}, made1};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return step_of("create", arguments);
}

Step raw_copy(std::vector<Argument> more = {}) {
    std::vector<Argument> arguments{qcow2, {"-O", WordValue{"raw"}}, top, made2};
    arguments.insert(arguments.begin(), more.begin(), more.end());
    return step_of("convert", arguments);
}

bool possible(const Case& c) { return validate(c).empty(); }

CaseState state_after(const Case& c) {
    return state_before(c, sequence_picker().kinds, c.steps.size());
}

TEST(SequencePicker, MakesAnImageOnAnother) {
    const Case c = two_images({overlay()});
    EXPECT_TRUE(possible(c));
    const CaseState state = state_after(c);
    EXPECT_EQ(chain_of(state, "made1"), (std::vector<std::string>{"made1", "top", "low"}));
    EXPECT_EQ(state.at("made1").own.size, 2 * mib);
    EXPECT_EQ(
        state_after(two_images({overlay({{"", plain_size(3 * mib + 1)}})})).at("made1").own.size,
        3 * mib + 512);
}

TEST(SequencePicker, CopiesAnImageOrASnapshot) {
    const Case c = two_images({raw_copy()});
    EXPECT_TRUE(possible(c));
    const CaseState state = state_after(c);
    EXPECT_EQ(state.at("made2").backing, std::nullopt);
    EXPECT_EQ(state.at("made2").format, "raw");
    const Argument first{"-l", WordValue{"snapshot.id=1"}};
    EXPECT_FALSE(possible(two_images({raw_copy({first})})));
    Case snapshot = two_images({raw_copy({first})});
    snapshot.images[1].snapshots = {{"a", 0}};
    EXPECT_TRUE(possible(snapshot));
    snapshot.steps.insert(snapshot.steps.begin(),
                          step_of("resize", {qcow2, top, {"", plain_size(3 * mib)}}));
    EXPECT_FALSE(possible(snapshot)) << "qemu-img shows it in the image's size";
}

TEST(SequencePicker, MakesNothingTwiceAndUsesNothingBeforeItIsThere) {
    EXPECT_FALSE(possible(two_images({overlay(), overlay()})));
    const Step resize = step_of("resize", {qcow2, made1, {"", plain_size(4 * mib)}});
    EXPECT_TRUE(possible(two_images({overlay(), resize})));
    EXPECT_FALSE(possible(two_images({resize, overlay()})));
    EXPECT_FALSE(possible(two_images({overlay({{"", plain_size(1024 * mib)}})})));
    Step data_file = overlay();
    set_option(data_file, "-o", OptionList{{{"data_file", WordValue{"x"}}}});
    EXPECT_FALSE(possible(two_images({data_file})));
}

TEST(SequencePicker, BoundsWhatImagesGrowTo) {
    const auto grown = [](std::uint64_t size) {
        return two_images({step_of("resize", {qcow2, top, {"", plain_size(size)}})});
    };
    constexpr std::uint64_t gib = std::uint64_t{1} << 30;
    EXPECT_TRUE(possible(grown(8 * gib)));
    EXPECT_FALSE(possible(grown(8 * gib + 512)));
}

TEST(SequencePicker, DrawsManyStepsOfEveryKind) {
    Plan plan = default_plan();
    plan.operations = {{"sequence", 1}};
    plan.refused_percent = 0;
    plan.damaged_percent = 0;
    std::map<std::string, unsigned> commands;
    unsigned steps = 0;
    constexpr unsigned draws = 1000;
    for (std::uint64_t i = 0; i < draws; ++i) {
        const Case c = draw_case(plan, 3, i, 0);
        ASSERT_FALSE(c.steps.empty()) << i;
        ASSERT_LE(c.steps.size(), 12U);
        EXPECT_EQ(c.steps.back().actor, Actor::tool);
        steps += static_cast<unsigned>(c.steps.size());
        for (const Step& step : c.steps) {
            ++commands[step.command];
        }
    }
    EXPECT_GE(steps, 6 * draws);
    for (const StepKind* kind : sequence_picker().kinds) {
        EXPECT_GE(commands[std::string(kind->command)], 150U) << kind->command;
    }
}

TEST(SequencePicker, LeavesNoOutputThatNoStepMakes) {
    Plan plan = default_plan();
    plan.operations = {{"sequence", 1}};
    plan.refused_percent = 0;
    plan.damaged_percent = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
        const Case c = draw_case(plan, 4, i, 0);
        const CaseState state = state_after(c);
        for (const OutputImage& output : c.outputs) {
            EXPECT_TRUE(state.contains(output.id)) << i;
        }
    }
}

}  // namespace
}  // namespace difffuzz

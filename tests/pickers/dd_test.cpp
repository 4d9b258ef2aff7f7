#include "pickers/dd.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/tools/dialect.hpp"
#include "pickers/creation_options.hpp"

namespace difffuzz {
namespace {

using testing::ElementsAre;

// What qemu-img 5.2, 7.2 and 10.0 make of an input of 1 MiB: sizes of their raw output.
TEST(DdWindow, IsWhatQemuImgReads) {
    constexpr std::uint64_t mib = 1 << 20;
    EXPECT_EQ(dd_window({}, mib), (DdWindow{0, mib, 2048}));
    EXPECT_EQ(dd_window({777, {}, 3}, mib), (DdWindow{0, 2331, 3}));
    EXPECT_EQ(dd_window({777, 1, 2}, mib), (DdWindow{777, 777, 1}));
    EXPECT_EQ(dd_window({777, 1349, {}}, mib), (DdWindow{1048173, 403, 1}));
    EXPECT_EQ(dd_window({512, 2047, 1 << 20}, mib), (DdWindow{mib - 512, 512, 1}));
    EXPECT_EQ(dd_window({dd_max_block, {}, {}}, mib), (DdWindow{0, mib, 1}));
}

TEST(DdWindow, IsEmptyPastItsEnd) {
    constexpr std::uint64_t mib = 1 << 20;
    EXPECT_EQ(dd_window({512, 2048, {}}, mib).length, 0U);
    EXPECT_EQ(dd_window({512, 5000, {}}, mib).length, 0U);
    EXPECT_EQ(dd_window({512, 3, 2}, mib).length, 0U);
    EXPECT_EQ(dd_window({{}, {}, 0}, mib).length, 0U);
    EXPECT_EQ(dd_window({dd_max_block, UINT64_MAX, {}}, mib), (DdWindow{mib, 0, 0}));
    EXPECT_EQ(dd_window({dd_max_block, {}, UINT64_MAX}, mib), (DdWindow{0, mib, 1}));
}

TEST(DdNumbers, StayWithinTheLimits) {
    for (const std::uint64_t size :
         {std::uint64_t{512}, std::uint64_t{1} << 20, dd_max_bytes + 512, std::uint64_t{5} << 30}) {
        for (std::uint64_t i = 0; i < 5000; ++i) {
            DrawState state = Draws::start(1, i, 0);
            const DdNumbers numbers = draw_dd_numbers(Draws(state), size, i % 2 == 0);
            const DdWindow window = dd_window(numbers, size);
            ASSERT_LE(window.length, dd_max_bytes) << size << ' ' << i;
            ASSERT_LE(window.blocks, dd_max_blocks) << size << ' ' << i;
            ASSERT_LE(window.offset + window.length, size) << size << ' ' << i;
            ASSERT_TRUE(i % 2 == 0 || window.length != 0) << size << ' ' << i;
        }
    }
}

Case sample() {
    Case c;
    c.operation = "dd";
    ImageRecipe image;
    image.id = "src";
    image.format = "raw";
    image.size = 1000;
    c.images = {image};
    c.outputs = {{std::string(target_id), "qcow2"}};
    Step step{Actor::tool, "dd", "dd", ValidIntent{}, {}};
    step.arguments = {{"-O", WordValue{"qcow2"}},
                      {"bs", SizeValue{1024, "1k"}},
                      {"if", ImageValue{"src"}},
                      {"of", ImageValue{std::string(target_id)}}};
    c.steps = {step};
    return c;
}

std::vector<std::string> rules_of(const Case& c) {
    std::vector<std::string> rules;
    for (const Violation& violation : validate_case(dd_picker(), c)) {
        rules.push_back(violation.rule);
    }
    return rules;
}

TEST(Dd, IsSpelledInOperands) {
    const Case c = sample();
    EXPECT_THAT(rules_of(c), ElementsAre());
    EXPECT_THAT(render_step(c, c.steps[0]),
                ElementsAre("dd", "-O", "qcow2", "bs=1k", "if=src.raw", "of=out.qcow2"));
    EXPECT_EQ(dd_window(c), (DdWindow{0, 1024, 1}));
}

TEST(Dd, BoundsWhatStrangersAsk) {
    Case c = sample();
    c.images[0].size = std::uint64_t{1} << 30;
    EXPECT_THAT(rules_of(c), ElementsAre("takes-too-long"));

    c = sample();
    c.steps[0].arguments[3].value = ImageValue{"src"};
    EXPECT_THAT(rules_of(c), ElementsAre("output-position"));

    c = sample();
    c.outputs[0].format = "vmdk";
    c.steps[0].arguments[0].value = WordValue{"vmdk"};
    EXPECT_THAT(rules_of(c), ElementsAre());
    c.steps[0].arguments.push_back({"count", plain_size(0)});
    EXPECT_THAT(rules_of(c), ElementsAre("empty-output"));

    c = sample();
    c.steps[0].arguments[1].value = SizeValue{0, "0"};
    EXPECT_THAT(rules_of(c), ElementsAre("block-size-out-of-range"));
    EXPECT_EQ(dd_window(c), std::nullopt);
}

TEST(Dd, DrawsEveryKindOfWindow) {
    std::map<std::string, unsigned> seen;
    Plan plan;
    plan.formats = {"raw", "qcow2", "vmdk", "vpc"};
    for (std::uint64_t i = 0; i < 2000; ++i) {
        DrawState state = Draws::start(3, i, 0);
        const Case c = dd_picker().draw_valid({Draws(state), plan});
        const ImageRecipe& source = *find_image(c, dd_source(c.steps[0]));
        const DdNumbers numbers = dd_numbers(c.steps[0]);
        const DdWindow window = *dd_window(c);
        const std::uint64_t block = numbers.block.value_or(dd_default_block);
        seen["empty"] += window.length == 0 ? 1U : 0U;
        seen["many blocks"] += window.blocks > 100 ? 1U : 0U;
        seen["odd block"] += block % 512 != 0 ? 1U : 0U;
        seen["bytes"] += block == 1 ? 1U : 0U;
        seen["block above the image"] += block > source.size ? 1U : 0U;
        seen["part of a block"] += window.length % block != 0 ? 1U : 0U;
        seen["large"] += source.size > dd_max_bytes ? 1U : 0U;
        seen["skips"] += window.offset != 0 && window.length != 0 ? 1U : 0U;
        seen["ends early"] += window.offset + window.length < source.size ? 1U : 0U;
    }
    for (const auto& [kind, count] : seen) {
        EXPECT_GE(count, 40U) << kind;
    }
}

}  // namespace
}  // namespace difffuzz

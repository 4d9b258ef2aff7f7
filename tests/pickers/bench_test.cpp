#include "pickers/bench.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "images/format.hpp"
#include "images/recipe_rules.hpp"
#include "pickers/rules.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

Plan plan_with(unsigned refused_percent) {
    Plan plan;
    for (const Format& format : formats()) {
        plan.formats.emplace_back(format.name);
    }
    plan.features = {"zstd"};
    plan.refused_percent = refused_percent;
    plan.damaged_percent = 0;
    return plan;
}

Case draw(std::uint64_t i, const Plan& plan) {
    DrawState state = Draws::start(31, i, 0);
    return pick_case(bench_picker(), {Draws(state), plan});
}

bool has(const Case& c, std::string_view option) { return has_option(c.steps[0], option); }

// Row by row what a valid run may be, stated here once more and without the picker's rules.
void expect_in_envelope(const Case& c, const BenchPlan& plan) {
    const ImageRecipe& image = c.images.back();
    EXPECT_EQ(plan.image_size, find_format(image.format)->actual_size(image));
    EXPECT_LE(image.size, std::uint64_t{64} << 20);
    EXPECT_GE(plan.count, 1U);
    EXPECT_LE(plan.count, 256U);
    EXPECT_GE(plan.depth, 1U);
    EXPECT_LE(plan.depth, 64U);
    EXPECT_GE(plan.bufsize, 1U);
    EXPECT_LE(plan.bufsize, std::uint64_t{2} << 20);
    EXPECT_TRUE(!plan.write || word_option(image, "subformat", "") != "streamOptimized");
    EXPECT_TRUE(!plan.write || image.format != "parallels");
    EXPECT_TRUE(plan.write || !has(c, "--flush-interval"));
    EXPECT_TRUE(plan.flush_interval == 0 || plan.flush_interval >= plan.depth);
    EXPECT_TRUE(!plan.no_drain || plan.flush_interval != 0);
    EXPECT_TRUE(!has(c, "-U") || !plan.write);
    for (const char* never : {"-t", "-i", "-n", "--image-opts"}) {
        EXPECT_FALSE(has(c, never));
    }
    for (const char* pinned : {"-f", "-c", "-d", "-s", "-S", "--pattern", "-o"}) {
        EXPECT_TRUE(has(c, pinned)) << pinned;
    }
    // No request comes near the end, so that both wrap rules give the same schedule.
    std::uint64_t offset = plan.offset;
    for (std::uint32_t i = 0; i < plan.count; ++i) {
        ASSERT_LT(offset + plan.bufsize, plan.image_size);
        offset += plan.step == 0 ? plan.bufsize : plan.step;
    }
    EXPECT_EQ(first_fault(plan), std::nullopt);
}

TEST(BenchPicker, AHundredThousandDrawsStayInTheEnvelope) {
    const Plan plan = plan_with(5);
    unsigned refused = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const Case c = draw(i, plan);
        if (intent_name(c) == "valid") {
            const auto bench = bench_plan_of(c);
            ASSERT_TRUE(bench.has_value());
            expect_in_envelope(c, *bench);
            ASSERT_FALSE(HasFatalFailure() || HasNonfatalFailure()) << "case " << i;
            continue;
        }
        ++refused;
        unsigned broken = 0;
        for (const Rule& rule : bench_picker().rules) {
            if (rule.broken(c)) {
                ++broken;
                EXPECT_EQ(rule.name, broken_rule(c)) << "case " << i;
                EXPECT_TRUE(rule.enforced);
            }
        }
        ASSERT_EQ(broken, 1U) << "case " << i << ' ' << broken_rule(c);
    }
    EXPECT_NEAR(refused, 5000, 400);
}

TEST(BenchPicker, VariesWhatMatters) {
    const Plan plan = plan_with(0);
    std::map<std::string, unsigned> seen;
    constexpr unsigned draws = 4000;
    for (std::uint64_t i = 0; i < draws; ++i) {
        const Case c = draw(i, plan);
        const BenchPlan bench = *bench_plan_of(c);
        const ImageRecipe& image = c.images.back();
        ++seen[image.format + (bench.write ? " written" : "")];
        for (const FormatOption& option : image.options) {
            ++seen[option.name];
        }
        seen["backing"] += image.backing ? 1U : 0U;
        seen["snapshot"] += image.snapshots.empty() ? 0U : 1U;
        seen["bitmap"] += image.bitmaps.empty() ? 0U : 1U;
        seen["compressed"] += std::ranges::any_of(image.content, [](const ContentWrite& write) {
            return write.kind == WriteKind::compressed;
        });
        seen["write"] += bench.write ? 1U : 0U;
        seen["depth 1"] += bench.depth == 1 ? 1U : 0U;
        seen["small buffer"] += bench.bufsize <= 65'536 ? 1U : 0U;
        seen["large buffer"] += bench.bufsize >= 262'144 ? 1U : 0U;
        seen["straddler"] += bench.bufsize % 512 != 0 ? 1U : 0U;
        seen["step 0"] += bench.step == 0 ? 1U : 0U;
        seen["overlap"] += bench.step != 0 && bench.step < bench.bufsize ? 1U : 0U;
        seen["gap"] += bench.step > bench.bufsize ? 1U : 0U;
        seen["offset"] += bench.offset != 0 ? 1U : 0U;
        seen["flush"] += bench.flush_interval != 0 ? 1U : 0U;
        seen["zero flush"] += bench.flush_interval == 0 && has(c, "--flush-interval") ? 1U : 0U;
        seen["no drain"] += bench.no_drain ? 1U : 0U;
        seen["many"] += bench.count > 100 ? 1U : 0U;
        seen["empty image"] += image.content.empty() ? 1U : 0U;
        seen["suffix"] +=
            option_value<SizeValue>(c.steps[0], "-s")->as != std::to_string(bench.bufsize) ? 1U
                                                                                           : 0U;
    }
    // Per mille.
    const std::map<std::string, unsigned> least{{"qcow2", 150},       {"raw", 70},
                                                {"vmdk", 40},         {"vpc", 20},
                                                {"vhdx", 20},         {"vdi", 20},
                                                {"qed", 20},          {"qcow", 10},
                                                {"parallels", 10},    {"qcow2 written", 150},
                                                {"raw written", 70},  {"vmdk written", 25},
                                                {"vpc written", 20},  {"vhdx written", 20},
                                                {"vdi written", 20},  {"qed written", 20},
                                                {"qcow written", 10}, {"backing", 80},
                                                {"snapshot", 50},     {"bitmap", 20},
                                                {"compressed", 50},   {"data_file", 8},
                                                {"extended_l2", 20},  {"refcount_bits", 30},
                                                {"subformat", 80},    {"write", 330},
                                                {"depth 1", 200},     {"small buffer", 600},
                                                {"large buffer", 30}, {"straddler", 80},
                                                {"step 0", 300},      {"overlap", 50},
                                                {"gap", 80},          {"offset", 350},
                                                {"flush", 100},       {"zero flush", 40},
                                                {"no drain", 40},     {"many", 200},
                                                {"empty image", 10},  {"suffix", 100}};
    for (const auto& [what, share] : least) {
        EXPECT_GE(seen[what], draws * share / 1000) << what;
    }
}

TEST(BenchPicker, PlanOfFillsInTheDefaults) {
    Case c;
    c.operation = "bench";
    c.images.push_back({"src", "raw", 1 << 20, {}, {}, {}});
    c.steps.push_back({Actor::tool, "bench", "bench", ValidIntent{}, {{"", ImageValue{"src"}}}});
    BenchPlan expected;
    expected.image_size = 1 << 20;
    EXPECT_EQ(bench_plan_of(c), expected);
    EXPECT_EQ(expected.count, 75'000U);
    EXPECT_EQ(expected.depth, 64U);
    EXPECT_EQ(expected.bufsize, 4096U);
    set_option(c.steps[0], "-c", NumberValue{-1});
    EXPECT_EQ(bench_plan_of(c), std::nullopt);
    set_option(c.steps[0], "-c", LiteralValue{"x"});
    EXPECT_EQ(bench_plan_of(c), std::nullopt);
    set_option(c.steps[0], "-c", NumberValue{3});
    EXPECT_EQ(bench_plan_of(c)->count, 3U);
    remove_option(c.steps[0], "");
    EXPECT_EQ(bench_plan_of(c), std::nullopt);
}

// Each bound of the envelope that the reference does not enforce is still a rule.
TEST(BenchPicker, NamesWhatTheReferenceWouldAccept) {
    const auto broken_by = [](auto change) {
        Case c;
        for (std::uint64_t i = 0;; ++i) {
            c = draw(i, plan_with(0));
            if (c.images.back().format == "raw" && has(c, "-w") && !has(c, "--flush-interval") &&
                bench_plan_of(c)->count > 1) {
                break;
            }
        }
        change(c);
        std::vector<std::string> names;
        for (const Violation& violation : validate_case(bench_picker(), c)) {
            names.push_back(violation.rule);
        }
        return names;
    };
    const auto set = [](const char* option, Value value) {
        return [=](Case& c) { set_option(c.steps[0], option, value); };
    };
    using testing::Contains;
    EXPECT_THAT(broken_by(set("-c", NumberValue{0})), Contains("count-zero"));
    EXPECT_THAT(broken_by(set("-d", NumberValue{0})), Contains("depth-zero"));
    EXPECT_THAT(broken_by(set("-s", plain_size(0))), Contains("buffer-zero"));
    EXPECT_THAT(broken_by(set("-c", NumberValue{257})), Contains("count-large"));
    EXPECT_THAT(broken_by(set("-d", NumberValue{65})), Contains("depth-large"));
    EXPECT_THAT(broken_by(set("-s", plain_size((2 << 20) + 1))), Contains("buffer-large"));
    EXPECT_THAT(broken_by(set("-S", plain_size(1 << 30))), Contains("not-linear"));
    EXPECT_THAT(broken_by([](Case& c) { add_flag(c.steps[0], "--no-drain"); }),
                Contains("no-drain-alone"));
    EXPECT_THAT(broken_by([](Case& c) { c.images[0].content.clear(); }),
                Contains("raw-without-signature"));
    EXPECT_THAT(broken_by([](Case& c) { c.images[0].size = (64 << 20) + 1; }),
                Contains("image-large"));
    EXPECT_THAT(broken_by([](Case& c) {
                    remove_option(c.steps[0], "-w");
                    set_option(c.steps[0], "--flush-interval", NumberValue{0});
                }),
                Contains("zero-interval-on-read"));
    EXPECT_THAT(broken_by([](Case& c) {
                    c.images[0].format = "vmdk";
                    c.images[0].options = {{"subformat", WordValue{"streamOptimized"}}};
                    set_option(c.steps[0], "-f", WordValue{"vmdk"});
                }),
                Contains("write-format"));
    EXPECT_THAT(broken_by([](Case& c) {
                    c.images[0].format = "qcow2";
                    c.images[0].options.clear();
                }),
                Contains("own-format"));
}

}  // namespace
}  // namespace difffuzz

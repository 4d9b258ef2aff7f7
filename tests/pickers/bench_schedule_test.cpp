#include "pickers/bench_schedule.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace difffuzz {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> offsets(const BenchPlan& plan, WrapRule rule) {
    std::vector<std::uint64_t> all;
    for (const std::uint64_t offset : OffsetSchedule(plan, rule)) {
        all.push_back(offset);
    }
    return all;
}

BenchPlan plan_of(std::uint32_t count, std::uint64_t bufsize, std::uint64_t step,
                  std::uint64_t size, std::uint64_t offset = 0) {
    BenchPlan plan;
    plan.count = count;
    plan.bufsize = bufsize;
    plan.step = step;
    plan.image_size = size;
    plan.offset = offset;
    return plan;
}

BenchPlan flush_plan(std::uint32_t count, std::uint32_t interval, std::uint32_t depth) {
    BenchPlan plan;
    plan.count = count;
    plan.depth = depth;
    plan.flush_interval = interval;
    plan.write = true;
    return plan;
}

// Small, huge and arbitrary numbers alike.
template <typename T>
rc::Gen<T> any_number() {
    return rc::gen::oneOf(rc::gen::inRange<T>(0, 300), rc::gen::arbitrary<T>(),
                          rc::gen::map(rc::gen::inRange<T>(0, 300), [](T below) {
                              return static_cast<T>(std::numeric_limits<T>::max() - below);
                          }));
}

BenchPlan any_plan() {
    BenchPlan plan;
    plan.count = *any_number<std::uint32_t>();
    plan.depth = *any_number<std::uint32_t>();
    plan.bufsize = *any_number<std::uint64_t>();
    plan.step = *any_number<std::uint64_t>();
    plan.offset = *any_number<std::uint64_t>();
    plan.flush_interval = *any_number<std::uint32_t>();
    plan.write = *rc::gen::arbitrary<bool>();
    plan.no_drain = *rc::gen::arbitrary<bool>();
    plan.pattern = *rc::gen::arbitrary<std::uint8_t>();
    plan.image_size = *any_number<std::uint64_t>();
    return plan;
}

// The same sums in arithmetic that cannot overflow for what is put in.
using Wide = long double;

TEST(BenchSchedule, IsAForwardRangeOfExactSize) {
    static_assert(std::ranges::input_range<OffsetSchedule>);
    static_assert(std::ranges::sized_range<OffsetSchedule>);
    EXPECT_EQ(OffsetSchedule(plan_of(7, 1, 0, 100), WrapRule::modulo_size).size(), 7U);
    EXPECT_TRUE(offsets(plan_of(0, 1, 0, 100), WrapRule::modulo_size).empty());
}

// 10240 bytes by 4096: up to 10.x the third request crosses the end, newer ones wrap at 6144.
TEST(BenchSchedule, WrapsByBothRules) {
    const BenchPlan plan = plan_of(4, 4096, 0, 10240);
    EXPECT_THAT(offsets(plan, WrapRule::modulo_size), ElementsAre(0, 4096, 8192, 2048));
    EXPECT_THAT(offsets(plan, WrapRule::modulo_size_less_buffer), ElementsAre(0, 4096, 2048, 0));
}

TEST(BenchSchedule, NeverWrapsTheFirstOffset) {
    const BenchPlan plan = plan_of(2, 512, 512, 1000, 5000);
    EXPECT_THAT(offsets(plan, WrapRule::modulo_size), ElementsAre(5000, 512));
    EXPECT_THAT(offsets(plan, WrapRule::modulo_size_less_buffer), ElementsAre(5000, 5512 % 488));
}

TEST(BenchSchedule, SurvivesTheLargestNumbers) {
    constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(next_offset(plan_of(2, 1, max, max, 0), WrapRule::modulo_size, max - 1), max - 1);
    EXPECT_EQ(next_offset(plan_of(2, max, 0, max, 0), WrapRule::modulo_size_less_buffer, max), 0U);
    EXPECT_EQ(next_offset(plan_of(2, 1, 1, 0, 0), WrapRule::modulo_size, 17), 0U);
    EXPECT_FALSE(stays_linear(plan_of(4'294'967'295, 1, max, max)));
    EXPECT_TRUE(stays_linear(plan_of(4'294'967'295, 1, 1, max)));
}

TEST(BenchSchedule, LinearMeansTheLastRequestEndsBeforeTheEnd) {
    EXPECT_TRUE(stays_linear(plan_of(4, 512, 0, 2049)));
    EXPECT_FALSE(stays_linear(plan_of(4, 512, 0, 2048)));
    EXPECT_TRUE(stays_linear(plan_of(1, 512, 0, 513)));
    EXPECT_FALSE(stays_linear(plan_of(1, 512, 0, 512)));
    EXPECT_FALSE(stays_linear(plan_of(1, 512, 0, 1024, 512)));
    EXPECT_TRUE(stays_linear(plan_of(0, 512, 0, 0, 512)));
}

TEST(BenchSchedule, LinearAgreesWithThePlainSum) {
    rc::check("linear", [] {
        BenchPlan plan = any_plan();
        // Within 2^60 the sum below is exact in 64-bit floating point mantissas of the platform.
        plan.count = plan.count % 4096 + 1;
        plan.bufsize %= std::uint64_t{1} << 40;
        plan.step %= std::uint64_t{1} << 40;
        plan.offset %= std::uint64_t{1} << 56;
        plan.image_size %= std::uint64_t{1} << 57;
        const Wide end =
            static_cast<Wide>(plan.offset) +
            static_cast<Wide>(plan.count - 1) * static_cast<Wide>(effective_step(plan)) +
            static_cast<Wide>(plan.bufsize);
        RC_ASSERT(stays_linear(plan) == (end < static_cast<Wide>(plan.image_size)));
    });
}

TEST(BenchSchedule, LinearPlansNeverWrap) {
    rc::check("both rules agree", [] {
        BenchPlan plan = any_plan();
        plan.count = *rc::gen::inRange<std::uint32_t>(1, 500);
        plan.bufsize %= 70'000;
        plan.step %= 70'000;
        plan.offset %= 70'000;
        plan.image_size = plan.offset + (plan.count - 1) * effective_step(plan) + plan.bufsize + 1;
        RC_ASSERT(stays_linear(plan));
        RC_ASSERT(!has_fault(plan, BenchFault::first_request_past_end));
        const auto all = offsets(plan, WrapRule::modulo_size);
        RC_ASSERT(all == offsets(plan, WrapRule::modulo_size_less_buffer));
        RC_ASSERT(std::is_sorted(all.begin(), all.end()));
        RC_ASSERT(all.back() + plan.bufsize < plan.image_size);
    });
}

TEST(BenchSchedule, OffsetsStayBelowTheModulus) {
    rc::check("raw values", [] {
        const BenchPlan plan = any_plan();
        const std::uint64_t current = *any_number<std::uint64_t>();
        const std::uint64_t plain = next_offset(plan, WrapRule::modulo_size, current);
        RC_ASSERT((plan.image_size == 0 ? plain == 0 : plain < plan.image_size));
        const std::uint64_t newer = next_offset(plan, WrapRule::modulo_size_less_buffer, current);
        RC_ASSERT(
            (plan.image_size > plan.bufsize ? newer < plan.image_size - plan.bufsize : newer == 0));
    });
}

// strace of qemu-img 7.2.22: (count, interval, depth) -> fsyncs.
TEST(BenchSchedule, FlushCountsAreTheMeasuredOnes) {
    EXPECT_EQ(flush_count(flush_plan(100, 50, 1)), 2U);
    EXPECT_EQ(flush_count(flush_plan(101, 50, 1)), 3U);
    EXPECT_EQ(flush_count(flush_plan(100, 50, 8)), 2U);
    EXPECT_EQ(flush_count(flush_plan(101, 50, 50)), 2U);
    EXPECT_EQ(flush_count(flush_plan(100, 64, 64)), 1U);
    EXPECT_EQ(flush_count(flush_plan(37, 10, 3)), 4U);
    EXPECT_EQ(flush_count(flush_plan(1000, 100, 64)), 10U);
    EXPECT_EQ(flush_count(flush_plan(100, 0, 64)), 0U);
    EXPECT_EQ(flush_count(flush_plan(0, 5, 1)), 0U);
}

TEST(BenchSchedule, FlushPointsAddUpToTheCount) {
    rc::check("cadence", [] {
        BenchPlan plan = any_plan();
        plan.count = *rc::gen::inRange<std::uint32_t>(0, 600);
        std::uint64_t points = 0;
        for (std::uint64_t k = 1; k <= plan.count; ++k) {
            points += flushes_after(plan, k) ? 1U : 0U;
        }
        RC_ASSERT(points == flush_count(plan));
        RC_ASSERT(!flushes_after(plan, 0));
        RC_ASSERT(!flushes_after(plan, std::uint64_t{plan.count} + 1));
        RC_ASSERT(plan.flush_interval != 0 || points == 0);
    });
}

// The queue as bench_cb() runs it: submit up to the depth, on each completion look whether those
// not in flight are a multiple of the interval, then drain and flush.
std::uint64_t simulated_flushes(const BenchPlan& plan) {
    std::uint64_t left = plan.count;
    std::uint64_t in_flight = 0;
    std::uint64_t flushes = 0;
    while (left > 0) {
        in_flight = std::min<std::uint64_t>(plan.depth, left);
        bool draining = false;
        while (in_flight > 0) {
            const bool due = (left - in_flight) % plan.flush_interval == 0;
            --left;
            --in_flight;
            draining = draining || due;
            if (!draining && in_flight < plan.depth && left > in_flight) {
                ++in_flight;
            }
        }
        flushes += draining ? 1U : 0U;
    }
    return flushes;
}

TEST(BenchSchedule, FlushCountIsThatOfTheSimulatedQueue) {
    for (std::uint32_t depth = 1; depth <= 12; ++depth) {
        for (std::uint32_t interval = depth; interval <= 40; ++interval) {
            for (std::uint32_t count = 1; count <= 90; ++count) {
                const BenchPlan plan = flush_plan(count, interval, depth);
                ASSERT_EQ(flush_count(plan), simulated_flushes(plan))
                    << count << ' ' << interval << ' ' << depth;
            }
        }
    }
}

TEST(BenchSchedule, TheFirstFaultHoldsAndNoneBeforeIt) {
    rc::check("faults", [] {
        const BenchPlan plan = any_plan();
        const auto fault = first_fault(plan);
        for (int i = 0; i <= static_cast<int>(BenchFault::first_request_past_end); ++i) {
            const auto each = static_cast<BenchFault>(i);
            if (!fault || each < *fault) {
                RC_ASSERT(!has_fault(plan, each));
            } else if (each == *fault) {
                RC_ASSERT(has_fault(plan, each));
            }
        }
    });
}

TEST(BenchSchedule, FaultsAtTheirBounds) {
    BenchPlan good = plan_of(1, 512, 0, 512);
    good.depth = 1;
    EXPECT_EQ(first_fault(good), std::nullopt);
    const auto fault_of = [&](auto change) {
        BenchPlan plan = good;
        change(plan);
        const auto fault = first_fault(plan);
        return fault ? to_string(*fault) : "none";
    };
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.count = 0; }), "count-out-of-range");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.count = 2'147'483'648; }), "count-out-of-range");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.count = 2'147'483'647; }), "none");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.depth = 0; }), "depth-out-of-range");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.bufsize = 0; }), "buffer-out-of-range");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.bufsize = 2'147'483'648; }), "buffer-out-of-range");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.step = 2'147'483'648; }), "step-out-of-range");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.offset = std::uint64_t{1} << 63; }),
              "offset-out-of-range");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.flush_interval = 2'147'483'648; }),
              "interval-out-of-range");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.flush_interval = 1; }), "flush-without-write");
    EXPECT_EQ(fault_of([](BenchPlan& p) {
                  p.write = true;
                  p.depth = 3;
                  p.flush_interval = 2;
              }),
              "flush-below-depth");
    EXPECT_EQ(fault_of([](BenchPlan& p) {
                  p.write = true;
                  p.depth = 3;
                  p.flush_interval = 3;
              }),
              "none");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.offset = 1; }), "first-request-past-end");
    EXPECT_EQ(fault_of([](BenchPlan& p) { p.image_size = 511; }), "first-request-past-end");
}

}  // namespace
}  // namespace difffuzz

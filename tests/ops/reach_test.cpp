// Every other case is steered to a pair of what the pickers can draw.
#include "ops/reach.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/permutation.hpp"
#include "pickers/image_feature.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

using testing::Contains;
using testing::Not;

constexpr std::uint64_t seed = 7;

// A plan of one operation, so that a test need not wait for all.
Plan plan_of(std::string_view operation) {
    Plan plan = default_plan();
    plan.operations = {{std::string(operation), 1}};
    return plan;
}

std::string text_of(const ReachPair& pair) {
    return pair.operation + ": " + pair.first + " with " + pair.second;
}

TEST(Reach, IsTakenFromAnotherProcessAsItIs) {
    // In a thread of its own, since what is known stays known to a thread.
    std::thread([] {
        const Plan plan = plan_of("info");
        know_reach(plan, {{"info", {"--output"}, {"raw"}, {}, {}}});
        const Reach& reach = reach_of(plan);
        ASSERT_EQ(reach.operations().size(), 1U);
        EXPECT_THAT(reach.operations().front().options, testing::ElementsAre("--output"));
        EXPECT_EQ(reach.pairs().size(), 1U);
    }).join();
}

TEST(Permutation, HitsEveryNumberOnce) {
    for (const std::uint64_t size : {1U, 2U, 3U, 4U, 5U, 16U, 17U, 1000U}) {
        std::set<std::uint64_t> hit;
        for (std::uint64_t i = 0; i < size; ++i) {
            const std::uint64_t place = permuted(i, size, 42);
            EXPECT_LT(place, size);
            hit.insert(place);
        }
        EXPECT_EQ(hit.size(), size);
    }
}

TEST(Permutation, DependsOnTheKey) {
    unsigned same = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        same += permuted(i, 1000, 1) == permuted(i, 1000, 2) ? 1U : 0U;
    }
    EXPECT_LT(same, 20U);
}

TEST(Reach, DeclaresWhatThePickerDoes) {
    const Reach& reach = reach_of(plan_of("convert"));
    ASSERT_EQ(reach.operations().size(), 1U);
    const OperationReach& convert = reach.operations().front();
    EXPECT_THAT(convert.options, Contains("-S"));
    EXPECT_THAT(convert.options, Contains("--object"));
    EXPECT_THAT(convert.options, Contains("-o cluster_size"));
    EXPECT_THAT(convert.options, Not(Contains("--no-such-option")));
    EXPECT_THAT(convert.options, Not(Contains("-n")));  // only there to be refused
    EXPECT_THAT(convert.formats, Contains("vhdx"));
    EXPECT_THAT(convert.features,
                Contains(std::pair<std::string, std::string>("bitmaps", "qcow2")));
    EXPECT_TRUE(std::ranges::is_sorted(convert.options));
    EXPECT_TRUE(std::ranges::is_sorted(convert.features));
}

TEST(Reach, HoldsOnlyWhatThePlanDeclares) {
    Plan plan = plan_of("info");
    plan.formats = {"raw", "qcow2"};
    const OperationReach& info = reach_of(plan).operations().front();
    EXPECT_EQ(info.formats.size(), 2U);
    for (const auto& [feature, format] : info.features) {
        EXPECT_TRUE(format == "raw" || format == "qcow2") << feature;
    }
}

// An option that rules keep out: in whatever valid case it is put, one is broken.
bool is_kept_out(const Operation& operation, std::string_view option) {
    Plan plan = plan_of(operation.name);
    plan.refused_percent = 0;
    plan.damaged_percent = 0;
    for (std::uint64_t i = 0; i < 40; ++i) {
        Case c = draw_case(plan, 13, i, 0);
        add_flag(last_step(c), option);
        if (validate(c).empty()) {
            return false;
        }
    }
    return true;
}

// What a row says of options is what can be drawn: nothing falls out of the ledger unseen.
TEST(Reach, EveryDeclaredOptionIsReached) {
    for (const Operation* operation : operations()) {
        const std::vector<std::string> reached =
            reach_of(plan_of(operation->name)).operations().front().options;
        for (const OptionSpec& spec : operation->picker->options) {
            if (spec.option.empty() || spec.max_count == 0) {
                continue;
            }
            if (spec.kind != ValueKind::none || !is_kept_out(*operation, spec.option)) {
                EXPECT_THAT(reached, Contains(std::string(spec.option))) << operation->name;
            }
        }
    }
}

TEST(Reach, EveryFeatureIsReachedBySomeOperation) {
    std::set<std::string> reached;
    for (const OperationReach& one : reach_of(default_plan()).operations()) {
        for (const auto& [feature, format] : one.features) {
            reached.insert(feature);
        }
    }
    for (const ImageFeature& feature : image_features()) {
        EXPECT_TRUE(reached.contains(std::string(feature.name))) << feature.name;
    }
}

TEST(Reach, NamesEachPairOnce) {
    std::set<std::string> names;
    for (const ReachPair& pair : reach_of(default_plan()).pairs()) {
        EXPECT_TRUE(names.insert(text_of(pair)).second) << text_of(pair);
        EXPECT_NE(pair.first, pair.second);
    }
}

TEST(Reach, EveryOtherCaseTakesTheNextPairOfAPermutation) {
    const Reach& reach = reach_of(plan_of("info"));
    const std::uint64_t size = reach.pairs().size();
    ASSERT_GT(size, 20U);
    std::vector<const ReachPair*> first;
    std::vector<const ReachPair*> second;
    for (std::uint64_t slot = 0; slot < size; ++slot) {
        EXPECT_EQ(reach.pair_of(seed, 2 * slot), nullptr);
        first.push_back(reach.pair_of(seed, 2 * slot + 1));
        second.push_back(reach.pair_of(seed, 2 * (size + slot) + 1));
    }
    EXPECT_EQ(std::set(first.begin(), first.end()).size(), size);
    EXPECT_EQ(std::set(second.begin(), second.end()).size(), size);
    EXPECT_NE(first, second);
    EXPECT_NE(first.front(), nullptr);
    unsigned same = 0;
    for (std::uint64_t slot = 0; slot < size; ++slot) {
        same += reach.pair_of(seed + 1, 2 * slot + 1) == first[slot] ? 1U : 0U;
    }
    EXPECT_LT(same, size / 4);
}

TEST(Reach, APlanWithNothingToPairDrawsFreely) {
    Plan plan = plan_of("info");
    plan.operations.clear();
    EXPECT_EQ(Reach(plan).pair_of(seed, 1), nullptr);
}

TEST(DrawCase, SteersOddCasesToTheirPairs) {
    const Plan plan = default_plan();
    const Reach& reach = reach_of(plan);
    unsigned reached = 0;
    unsigned usual = 0;  // of operations with the plan's share of damaged cases
    unsigned intended = 0;
    constexpr std::uint64_t cases = 1500;
    std::map<std::string, std::vector<std::string>> missed;
    for (std::uint64_t slot = 0; slot < cases; ++slot) {
        const std::uint64_t index = 2 * slot + 1;
        const ReachPair& pair = *reach.pair_of(seed, index);
        const auto steered = draw_steered(plan, pair, seed, index, 0);
        const Case c = draw_case(plan, seed, index, 0);
        if (steered) {
            ++reached;
            ASSERT_EQ(c, *steered);
            ASSERT_EQ(c.operation, pair.operation);
            if (find_operation(pair.operation)->picker->damaged_percent == 0) {
                ++usual;
                intended += intent_name(c) == "valid" ? 0U : 1U;
            }
            if (intent_name(c) == "valid") {
                ASSERT_TRUE(holds(reach_of_case(c), pair)) << text_of(pair);
            }
        } else {
            missed[pair.operation].push_back(pair.first + " with " + pair.second);
        }
    }
    for (const auto& [operation, pairs] : missed) {
        std::cout << operation << ", not reached:";
        for (const std::string& pair : pairs) {
            std::cout << "  " << pair;
        }
        std::cout << '\n';
    }
    EXPECT_GE(reached, cases * 9 / 10);
    // Steering chooses what is held, not what the case is meant to be.
    const unsigned share = plan.damaged_percent + plan.refused_percent;
    EXPECT_NEAR(100.0 * intended / usual, share, 5);
}

TEST(DrawCase, IsTheSameWhoeverAsksFirst) {
    const Plan plan = plan_of("info");
    const Case here = draw_case(plan, seed, 11, 0);
    Case there;
    // Another thread has found out nothing yet.
    std::thread([&] { there = draw_case(plan, seed, 11, 0); }).join();
    EXPECT_EQ(here, there);
}

TEST(DrawCase, IsNotSteeredWithPins) {
    const Plan plan = default_plan();
    const Pins pins{{"operation", "info"}};
    for (std::uint64_t i = 1; i < 20; i += 2) {
        EXPECT_EQ(draw_case(plan, seed, i, 0, &pins).operation, "info");
    }
}

}  // namespace
}  // namespace difffuzz

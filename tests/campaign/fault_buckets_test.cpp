// What is counted of campaigns with planted faults, from literals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/fault_buckets.hpp"

namespace difffuzz {
namespace {

using testing::ElementsAre;
using testing::Pair;

FaultBuckets row(const std::string& fault, const std::vector<std::string>& names) {
    FaultBuckets result;
    result.fault = fault;
    for (const std::string& name : names) {
        result.buckets.push_back({name, "symptom", {}});
    }
    return result;
}

TEST(FaultBuckets, OneThatTwoFaultsEndInIsShared) {
    EXPECT_THAT(
        shared_buckets({row("a", {"x", "y"}), row("b", {"y"}), row("c", {"z"}), row("d", {"y"})}),
        ElementsAre(Pair("y", ElementsAre("a", "b", "d"))));
    EXPECT_TRUE(shared_buckets({row("a", {"x"}), row("b", {"y"})}).empty());
}

TEST(FaultBuckets, MedianIsTheMiddleOneOrTheLowerOfTwo) {
    EXPECT_EQ(median({}), 0U);
    EXPECT_EQ(median({7}), 7U);
    EXPECT_EQ(median({9, 1}), 1U);
    EXPECT_EQ(median({9, 1, 5}), 5U);
}

}  // namespace
}  // namespace difffuzz

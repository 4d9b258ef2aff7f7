#include "known_divergences/versions.hpp"

#include <gtest/gtest.h>

namespace difffuzz {
namespace {

int order(std::string_view a, std::string_view b) {
    const auto result = compare_versions(a, b);
    return result < 0 ? -1 : result > 0 ? 1 : 0;
}

TEST(Versions, CompareByNumberAndNotAsText) {
    EXPECT_EQ(order("7.2.22", "10.0.13"), -1);
    EXPECT_EQ(order("7.10", "7.9.9"), 1);
    EXPECT_EQ(order("7.2", "7.2.0"), 0);
    EXPECT_EQ(order("07.2", "7.2"), 0);
    EXPECT_EQ(order("", "0.1"), -1);
    EXPECT_EQ(order("", "0"), 0);
    EXPECT_EQ(order("10.0.0-rc1", "10.0.0"), 0);
    EXPECT_EQ(order("99999999999999999999", "100000000000000000000"), -1);
}

TEST(Versions, RangesHoldEveryBound) {
    const auto range = VersionRange::parse(">=7.2 <10.0");
    ASSERT_TRUE(range);
    EXPECT_TRUE(range->contains("7.2"));
    EXPECT_TRUE(range->contains("9.2.4"));
    EXPECT_FALSE(range->contains("7.1.9"));
    EXPECT_FALSE(range->contains("10.0"));
    EXPECT_TRUE(VersionRange::parse("")->contains("1"));
    EXPECT_TRUE(VersionRange::parse("=5.2")->contains("5.2.0"));
    EXPECT_FALSE(VersionRange::parse(">5.2")->contains("5.2.0"));
    EXPECT_TRUE(VersionRange::parse("<=5.2")->contains("5.2.0"));
}

TEST(Versions, WhatIsNoRangeIsNothing) {
    for (const char* text : {"7.2", ">= 7.2", "=>7", ">=7.", ">=7..2", ">=x", ">=.7", "<>7"}) {
        EXPECT_FALSE(VersionRange::parse(text)) << text;
    }
}

}  // namespace
}  // namespace difffuzz

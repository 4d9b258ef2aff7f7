#include "images/interval_map.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/images/random_images.hpp"

namespace difffuzz {
namespace {

TEST(IntervalMap, IsAnArrayOfTheLastAssignments) {
    test::check_many("interval map", 2000, [] {
        constexpr std::uint64_t size = 40;
        std::array<int, size> expected{};  // 0: no value
        IntervalMap<int> map;
        const std::uint64_t assignments = test::draw(0, 10);
        for (std::uint64_t i = 1; i <= assignments; ++i) {
            const std::uint64_t begin = test::draw(0, size);
            const std::uint64_t end = test::draw(begin, size);
            map.assign(begin, end, static_cast<int>(i));
            for (std::uint64_t at = begin; at < end; ++at) {
                expected[at] = static_cast<int>(i);
            }
        }
        const std::uint64_t begin = test::draw(0, size);
        const std::uint64_t end = test::draw(begin, size);
        std::uint64_t next = begin;
        map.visit(begin, end, [&](std::uint64_t from, std::uint64_t to, const int* value) {
            RC_ASSERT(from == next);
            RC_ASSERT(to > from);
            RC_ASSERT(to <= end);
            for (std::uint64_t at = from; at < to; ++at) {
                RC_ASSERT(expected[at] == (value == nullptr ? 0 : *value));
            }
            next = to;
        });
        RC_ASSERT(next == end);
    });
}

TEST(IntervalMap, AnEmptyMapHasOnePieceWithoutValue) {
    int pieces = 0;
    IntervalMap<int>().visit(3, 9, [&](std::uint64_t from, std::uint64_t to, const int* value) {
        ++pieces;
        EXPECT_EQ(from, 3U);
        EXPECT_EQ(to, 9U);
        EXPECT_EQ(value, nullptr);
    });
    EXPECT_EQ(pieces, 1);
}

}  // namespace
}  // namespace difffuzz

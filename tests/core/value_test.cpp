#include "core/cases/value.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "core/cases/recipe_json.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

TEST(SpelledBytes, WhatASpellingMeans) {
    constexpr std::uint64_t kib = 1024;
    const std::pair<const char*, std::uint64_t> meanings[] = {
        {"0", 0},
        {"0042", 42},
        {"+512", 512},
        {"-4k", 4 * kib},
        {"7b", 7},
        {"7B", 7},
        {"3K", 3 * kib},
        {"1.5k", 1536},
        {"1.0", 1},
        {"0.125M", 128 * kib},
        {"2g", 2 * kib * kib * kib},
        {"1T", kib * kib * kib * kib},
        {"1.5P", 3 * kib * kib * kib * kib * kib / 2},
        {"15E", 15 * kib * kib * kib * kib * kib * kib},
        {"15.5e", std::uint64_t{31} << 59},
        {"0.000000000000000000867361737988403547205962240695953369140625E", 1},
        {"0x1F", 31},
        {"0X1b", 27},
        {"0xE", 14},
        {"0x10k", 16 * kib},
        {"-0x10M", 16 * kib * kib},
        {"18446744073709551615", UINT64_MAX},
        {"0xffffffffffffffff", UINT64_MAX},
    };
    for (const auto& [as, bytes] : meanings) {
        EXPECT_EQ(spelled_bytes(as), bytes) << as;
    }
}

TEST(SpelledBytes, WhatIsNoExactSpelling) {
    for (const char* as : {"",
                           "+",
                           "-",
                           "k",
                           "+k",
                           "abc",
                           "1x",
                           "1kk",
                           "1 k",
                           " 1",
                           "1 ",
                           "--1",
                           "+-1",
                           ".5k",
                           "1.",
                           "1.k",
                           "1..5k",
                           "1.5",
                           "1.5b",
                           "0.1k",
                           "1.0001k",
                           "1.-5k",
                           "0x",
                           "0xk",
                           "0x1.8k",
                           "0x-1",
                           "0x+1",
                           "1e3",
                           "18446744073709551616",
                           "16E",
                           "16383.9999999999999999999P",
                           "0x10000000000000000",
                           "0.0000000000000000008673617379884035472059622406959533691406255E"}) {
        EXPECT_FALSE(spelled_bytes(as)) << as;
    }
}

TEST(SpelledBytes, EverySuffixOfEveryNumber) {
    rc::check([](std::uint64_t number, bool upper) {
        const auto [shift, letter] = *rc::gen::element(
            std::pair{0U, 'b'}, std::pair{10U, 'k'}, std::pair{20U, 'm'}, std::pair{30U, 'g'},
            std::pair{40U, 't'}, std::pair{50U, 'p'}, std::pair{60U, 'e'});
        const std::string as =
            std::to_string(number) + static_cast<char>(upper ? letter - 'a' + 'A' : letter);
        const bool fits = number <= (UINT64_MAX >> shift);
        RC_ASSERT(spelled_bytes(as) == (fits ? std::optional(number << shift) : std::nullopt));
    });
}

// Whatever the pickers spell is read again.
TEST(SpelledBytes, DrawnCasesRoundTrip) {
    const Plan plan = default_plan();
    std::size_t read = 0;
    for (std::uint64_t index = 0; index < 5'000; ++index) {
        if (const auto c = draw_filtered_case(plan, 7, index, nullptr)) {
            ASSERT_EQ(case_from_json(to_json(*c)), *c) << index << " " << to_json(*c).dump();
            ++read;
        }
    }
    EXPECT_GT(read, 4'750U);
}

}  // namespace
}  // namespace difffuzz

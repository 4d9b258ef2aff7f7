#include "images/content_fill.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "images/bytes.hpp"
#include "tests/images/random_images.hpp"

namespace difffuzz {
namespace {

std::vector<std::byte> filled(const Fill& fill, std::uint64_t offset, std::size_t length) {
    std::vector<std::byte> bytes(length, std::byte{0xee});
    fill_bytes(fill, offset, bytes);
    return bytes;
}

// The first outputs of the published generator for seed 1234567.
TEST(ContentFill, RandomIsSplitmix64) {
    const auto bytes = filled(RandomFill{1234567}, 0, 24);
    EXPECT_EQ(load_le<std::uint64_t>(bytes.data()), 6457827717110365317U);
    EXPECT_EQ(load_le<std::uint64_t>(bytes.data() + 8), 3203168211198807973U);
    EXPECT_EQ(load_le<std::uint64_t>(bytes.data() + 16), 9817491932198370423U);
}

TEST(ContentFill, RepeatsThePeriodOfRandom) {
    const auto unit = filled(RandomFill{5}, 0, 3);
    const auto bytes = filled(RepeatFill{5, 3}, 0, 10);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        EXPECT_EQ(bytes[i], unit[i % 3]) << i;
    }
}

TEST(ContentFill, ByteIsThatByte) {
    EXPECT_EQ(filled(ByteFill{0x5a}, 77, 3), std::vector<std::byte>(3, std::byte{0x5a}));
}

TEST(ContentFill, AnyPartIsAPartOfTheWhole) {
    test::check_many("a part of a fill is a part of the whole", 1000, [] {
        const Fill fill = test::draw_fill();
        const auto whole = filled(fill, 0, 10'000);
        const std::size_t begin = test::draw(0, 9'999);
        const std::size_t length = test::draw(0, 10'000 - begin);
        const auto part = filled(fill, begin, length);
        RC_ASSERT(std::equal(part.begin(), part.end(),
                             whole.begin() + static_cast<std::ptrdiff_t>(begin)));
    });
}

}  // namespace
}  // namespace difffuzz

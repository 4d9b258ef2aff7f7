#include "images/virtual_content.hpp"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>

#include "images/image_error.hpp"
#include "tests/images/random_images.hpp"

namespace difffuzz {
namespace {

// Bytes with extents that may begin and end anywhere.
class Bytes : public ContentSource {
public:
    Bytes(std::vector<std::byte> bytes, std::size_t longest_extent)
        : bytes_(std::move(bytes)), longest_(longest_extent) {}
    std::uint64_t size() const override { return bytes_.size(); }
    ContentExtent extent(std::uint64_t offset) const override {
        const bool zero = bytes_[offset] == std::byte{0};
        std::uint64_t length = 1;
        while (length < longest_ && offset + length < bytes_.size() &&
               (bytes_[offset + length] == std::byte{0}) == zero) {
            ++length;
        }
        return {length, zero};
    }
    void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(),
                    bytes.begin());
    }

private:
    std::vector<std::byte> bytes_;
    std::size_t longest_;
};

// Endless content that costs nothing to make.
class Endless : public ContentSource {
public:
    explicit Endless(bool zero) : zero_(zero) {}
    std::uint64_t size() const override { return std::uint64_t{1} << 60; }
    ContentExtent extent(std::uint64_t) const override { return {1 << 20, zero_}; }
    void read(std::uint64_t, std::span<std::byte> bytes) const override {
        std::ranges::fill(bytes, std::byte{1});
        bytes[0] = std::byte{2};
    }

private:
    bool zero_;
};

VirtualContent naive(const std::vector<std::byte>& bytes) {
    VirtualContent content{bytes.size(), {}};
    for (std::size_t at = 0; at < bytes.size(); at += sector_bytes) {
        const auto sector =
            std::span(bytes).subspan(at, std::min<std::size_t>(sector_bytes, bytes.size() - at));
        if (std::ranges::any_of(sector, [](std::byte b) { return b != std::byte{0}; })) {
            content.sectors.push_back(
                {at / sector_bytes, XXH3_64bits(sector.data(), sector.size())});
        }
    }
    return content;
}

std::vector<std::byte> draw_bytes() {
    std::vector<std::byte> bytes(test::draw(0, 5000));
    for (std::uint64_t i = 0; !bytes.empty() && i < test::draw(0, 6); ++i) {
        const std::size_t begin = test::draw(0, bytes.size() - 1);
        const std::size_t length = test::draw(1, bytes.size() - begin);
        std::ranges::fill(std::span(bytes).subspan(begin, length), std::byte(test::draw(0, 2)));
    }
    return bytes;
}

TEST(VirtualContent, IsTheNonZeroSectorsWhateverTheExtents) {
    test::check_many("summarise", 3000, [] {
        const auto bytes = draw_bytes();
        RC_ASSERT(summarise(Bytes(bytes, test::draw(1, 2000))) == naive(bytes));
    });
}

TEST(VirtualContent, FirstDifferenceIsTheFirstSectorThatDiffers) {
    test::check_many("first_difference", 3000, [] {
        auto a = draw_bytes();
        a.resize(a.size() / sector_bytes * sector_bytes);
        auto b = test::chance(50) ? a : draw_bytes();
        b.resize(test::chance(50) ? a.size() : test::draw(0, 10) * sector_bytes);
        if (!b.empty()) {
            b[test::draw(0, b.size() - 1)] = std::byte(test::draw(0, 2));
        }
        std::optional<std::uint64_t> expected;
        for (std::size_t i = 0; !expected && i < std::min(a.size(), b.size()); ++i) {
            if (a[i] != b[i]) {
                expected = i / sector_bytes;
            }
        }
        RC_ASSERT(first_difference(naive(a), naive(b)) == expected);
        RC_ASSERT(first_difference(naive(b), naive(a)) == expected);
    });
}

TEST(VirtualContent, EndlessContentIsRefused) {
    EXPECT_THROW(summarise(Endless(false)), ImageError);
    EXPECT_THROW(summarise(Endless(true)), ImageError);
}

}  // namespace
}  // namespace difffuzz

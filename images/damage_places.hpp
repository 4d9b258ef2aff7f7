// What the formats' damage tables are made of.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "images/bytes.hpp"
#include "images/damage.hpp"
#include "images/file.hpp"

namespace difffuzz {

using Places = std::vector<std::uint64_t>;

// A number in the file; bytes past its end are zeros.
template <typename T>
std::array<std::byte, sizeof(T)> bytes_at(const File& file, std::uint64_t offset) {
    std::array<std::byte, sizeof(T)> bytes{};
    if (offset < file.size()) {
        file.read_at(offset, bytes);
    }
    return bytes;
}
template <typename T>
T big_at(const File& file, std::uint64_t offset) {
    return load_be<T>(bytes_at<T>(file, offset).data());
}
template <typename T>
T little_at(const File& file, std::uint64_t offset) {
    return load_le<T>(bytes_at<T>(file, offset).data());
}

// `count` big-endian numbers of 8 bytes that follow one another, as far as the file goes: read at
// once, since tables are long and most of their entries are empty.
inline std::vector<std::uint64_t> big_table(const File& file, std::uint64_t offset,
                                            std::uint64_t count) {
    const std::uint64_t size = file.size();
    const std::uint64_t there = offset < size ? (size - offset) / 8 : 0;
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(count, there) * 8));
    bytes.resize(file.read_at(offset, bytes) / 8 * 8);
    std::vector<std::uint64_t> numbers;
    numbers.reserve(bytes.size() / 8);
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        numbers.push_back(load_be<std::uint64_t>(bytes.data() + at));
    }
    return numbers;
}

// The places of `count` fields, `stride` bytes apart.
inline void add_array(Places& places, std::uint64_t offset, std::uint64_t count,
                      std::uint64_t stride) {
    for (std::uint64_t i = 0; i < count && places.size() < max_places; ++i) {
        places.push_back(offset + i * stride);
    }
}

// Those of entries that say something, then a few of those that do not: there may be many.
template <typename IsUsed>
Places used_first(const Places& entries, IsUsed is_used) {
    constexpr std::size_t max_unused = 4;
    Places used;
    Places unused;
    for (const std::uint64_t entry : entries) {
        if (is_used(entry)) {
            used.push_back(entry);
        } else if (unused.size() < max_unused) {
            unused.push_back(entry);
        }
    }
    used.insert(used.end(), unused.begin(), unused.end());
    return used;
}

// Rows of a table.
struct FieldRow : DamageField {
    constexpr FieldRow(ByteOrder byte_order, std::string_view field, unsigned width,
                       std::integral auto at)
        : DamageField{field, width, byte_order, static_cast<std::uint64_t>(at)} {}
    constexpr FieldRow(ByteOrder byte_order, std::string_view field, unsigned width,
                       Places (*of)(const File&))
        : DamageField{field, width, byte_order, 0, of} {}

    constexpr FieldRow pointer(std::uint64_t unit, std::uint64_t bits = UINT64_MAX) const {
        FieldRow row = *this;
        row.pointer_unit = unit;
        row.pointer_bits = bits;
        return row;
    }
    constexpr FieldRow unread(std::string_view why) const {
        FieldRow row = *this;
        row.ignored = why;
        return row;
    }
    constexpr FieldRow means(std::span<const std::uint64_t> values) const {
        FieldRow row = *this;
        row.telling = values;
        return row;
    }
    constexpr FieldRow sum() const {
        FieldRow row = *this;
        row.checksum = true;
        return row;
    }
};

}  // namespace difffuzz

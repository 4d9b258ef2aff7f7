// Structures of a vpc (VHD) file ("Virtual Hard Disk Image Format Specification 1.0", Microsoft);
// big-endian.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "images/file.hpp"

namespace difffuzz::vpc {

// At the end of the file; a dynamic image has a copy at the start.
inline constexpr std::size_t footer_bytes = 512;
inline constexpr std::string_view footer_cookie = "conectix";
inline constexpr std::size_t at_header_offset = 16;  // 64 bits
inline constexpr std::size_t at_time_stamp = 24;
inline constexpr std::size_t at_creator = 28;        // 4 characters
inline constexpr std::size_t at_current_size = 48;   // 64 bits, bytes
inline constexpr std::size_t at_cylinders = 56;      // 16 bits
inline constexpr std::size_t at_heads = 58;          // 8 bits
inline constexpr std::size_t at_track_sectors = 59;  // 8 bits
inline constexpr std::size_t at_disk_type = 60;
inline constexpr std::size_t at_checksum = 64;
inline constexpr std::size_t at_uuid = 68;
inline constexpr std::uint32_t type_fixed = 2;
inline constexpr std::uint32_t type_dynamic = 3;
inline constexpr std::uint32_t type_differencing = 4;

// The header of a dynamic or differencing image.
inline constexpr std::size_t header_bytes = 1024;
inline constexpr std::string_view header_cookie = "cxsparse";
inline constexpr std::size_t at_table_offset = 16;  // 64 bits
inline constexpr std::size_t at_table_entries = 28;
inline constexpr std::size_t at_block_size = 32;

using Footer = std::array<std::byte, footer_bytes>;

inline Footer read_footer(const File& file, std::uint64_t offset) {
    Footer footer{};
    file.read_at(offset, footer);
    return footer;
}

inline bool has_cookie(std::span<const std::byte> bytes, std::string_view cookie) {
    return bytes.size() >= cookie.size() &&
           std::ranges::equal(bytes.first(cookie.size()), std::as_bytes(std::span(cookie)));
}

// The complement of the sum of all bytes but the checksum's own.
inline std::uint32_t footer_checksum(const Footer& footer) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < footer.size(); ++i) {
        const bool own = i >= at_checksum && i < at_checksum + 4;
        sum += own ? 0 : std::to_integer<std::uint32_t>(footer[i]);
    }
    return ~sum;
}

}  // namespace difffuzz::vpc

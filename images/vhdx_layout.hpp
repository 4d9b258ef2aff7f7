// Structures of a vhdx file ("VHDX Format Specification 1.00", Microsoft); little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "images/file.hpp"
#include "images/recipe_uuid.hpp"

namespace difffuzz::vhdx {

// Two copies of the header; the one with the higher sequence number counts.
inline constexpr std::uint64_t header_offsets[] = {std::uint64_t{64} << 10,
                                                   std::uint64_t{128} << 10};
inline constexpr std::size_t header_bytes = 4096;  // that the checksum (CRC-32C) covers
inline constexpr std::size_t at_checksum = 4;
inline constexpr std::size_t at_sequence = 8;  // 64 bits
inline constexpr std::size_t at_file_guid = 16;
inline constexpr std::size_t at_data_guid = 32;
inline constexpr std::size_t at_log_guid = 48;  // zero: the log is empty
inline constexpr std::size_t at_log_length = 68;
inline constexpr std::size_t at_log_offset = 72;  // 64 bits

inline constexpr std::uint64_t region_table_offsets[] = {std::uint64_t{192} << 10,
                                                         std::uint64_t{256} << 10};
inline constexpr std::size_t region_table_bytes = 65536;  // that its checksum covers

// Headers, region tables and entries of the log have their checksum (CRC-32C) in bytes 4 to 7,
// reckoned with zeros there.
void put_checksum(std::span<std::byte> bytes);

constexpr Uuid guid(std::uint64_t low, std::uint64_t high) {
    Uuid bytes{};
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::byte>(low >> (8 * i));
        bytes[8 + i] = static_cast<std::byte>(high >> (8 * i));
    }
    return bytes;
}

// 8B7CA206-4790-4B9A-B8FE-575F050F886E
inline constexpr Uuid metadata_region = guid(0x4b9a47908b7ca206, 0x6e880f055f57feb8);
// 2DC27766-F623-4200-9D64-115E9BFD4A08
inline constexpr Uuid table_region = guid(0x4200f6232dc27766, 0x084afd9b5e11649d);
// CAA16737-FA36-4D43-B3B6-33F0AA44E76B
inline constexpr Uuid parameters_item = guid(0x4d43fa36caa16737, 0x6be744aaf033b6b3);
// 2FA54224-CD1B-4876-B211-5DBED83BF4B8
inline constexpr Uuid size_item = guid(0x4876cd1b2fa54224, 0xb8f43bd8be5d11b2);
// 8141BF1D-A96F-4709-BA47-F233A8FAAB5F
inline constexpr Uuid logical_sector_item = guid(0x4709a96f8141bf1d, 0x5fabfaa833f247ba);
// CDA348C7-445D-4471-9CC9-E9885251C556
inline constexpr Uuid physical_sector_item = guid(0x4471445dcda348c7, 0x56c5515288e9c99c);
// BECA12AB-B2E6-4523-93EF-C309E000C746
inline constexpr Uuid page_83_item = guid(0x4523b2e6beca12ab, 0x46c700e009c3ef93);
// A8D35F2D-B30B-454D-ABF7-D3D84834AB0C
inline constexpr Uuid parent_locator_item = guid(0x454db30ba8d35f2d, 0x0cab3448d8d3f7ab);

struct Area {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

// Where both copies of the region table place a region, if they have it; the same place once.
std::vector<Area> find_regions(const File& file, const Uuid& region);
// Where the item lies in the file, by the table at the start of the metadata region.
std::optional<Area> find_item(const File& file, const Area& metadata, const Uuid& item);

}  // namespace difffuzz::vhdx

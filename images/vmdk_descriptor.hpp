// The text descriptor of a vmdk image, and the header of a sparse extent that may hold it ("Virtual
// Disk Format 1.1", VMware).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "images/file.hpp"
#include "images/format.hpp"

namespace difffuzz::vmdk {

// Sparse extent header: little-endian, offsets and sizes in sectors.
inline constexpr std::uint32_t sparse_magic = 0x564d444b;     // "KDMV"
inline constexpr std::uint32_t version_3_magic = 0x44574f43;  // "COWD", an older extent
inline constexpr std::size_t header_bytes = 512;
inline constexpr std::size_t at_version = 4;
inline constexpr std::size_t at_flags = 8;
inline constexpr std::size_t at_capacity = 12;           // 64 bits
inline constexpr std::size_t at_grain_size = 20;         // 64 bits
inline constexpr std::size_t at_descriptor_offset = 28;  // 64 bits
inline constexpr std::size_t at_descriptor_size = 36;    // 64 bits
inline constexpr std::size_t at_table_entries = 44;
inline constexpr std::size_t at_directory_offset = 56;  // 64 bits
inline constexpr std::size_t at_overhead = 64;          // 64 bits
inline constexpr std::size_t at_compression = 77;       // 16 bits

struct Area {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

// Where the descriptor lies: behind a sparse extent's header, or the file is one, from 0 on. No
// length when the header leads nowhere.
Area descriptor_area(const File& file);

// The text of an area up to its first NUL, where readers stop.
std::string read_descriptor(const File& file, const Area& area);

// Extents and parents that the file's descriptor names, wherever a tool may look for one.
std::vector<ForeignReference> find_references(const File& file);

// Puts `content_id` in place of the one in the file's descriptor. Throws ImageError when there is
// none.
void replace_content_id(const File& file, std::uint32_t content_id);

}  // namespace difffuzz::vmdk

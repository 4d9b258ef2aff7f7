// On-disk constants of qcow2's bitmap directory (qemu's docs/interop/qcow2.txt).
#pragma once

#include <cstddef>
#include <cstdint>

namespace difffuzz::qcow2 {

// Byte offsets in an entry of the directory; extra data and the name follow, padded to 8 bytes.
inline constexpr std::size_t at_bitmap_table = 0;
inline constexpr std::size_t at_bitmap_entries = 8;
inline constexpr std::size_t at_bitmap_flags = 12;
inline constexpr std::size_t at_bitmap_type = 16;
inline constexpr std::size_t at_bitmap_granularity = 17;  // its binary logarithm
inline constexpr std::size_t at_bitmap_name_length = 18;
inline constexpr std::size_t at_bitmap_extra_length = 20;
inline constexpr std::size_t bitmap_head_bytes = 24;

inline constexpr std::uint32_t bitmap_in_use = 1U << 0U;
inline constexpr std::uint32_t bitmap_auto = 1U << 1U;
inline constexpr std::uint8_t bitmap_dirty_tracking = 1;
inline constexpr unsigned min_bitmap_granularity_bits = 9;
inline constexpr unsigned max_bitmap_granularity_bits = 31;

// Entries of a bitmap's table: the offset of a cluster of bits; without one, whether all are dirty.
inline constexpr std::uint64_t bitmap_all_dirty = 1;
inline constexpr std::uint64_t bitmap_reserved = 0xff000000000001fe;

// qemu's bounds.
inline constexpr std::uint64_t max_bitmap_bytes = std::uint64_t{512} << 20;
inline constexpr std::uint32_t max_bitmaps = 65535;
inline constexpr std::uint64_t max_bitmap_directory_bytes = std::uint64_t{1024} * max_bitmaps;
inline constexpr std::uint32_t max_bitmap_name = 1023;

}  // namespace difffuzz::qcow2

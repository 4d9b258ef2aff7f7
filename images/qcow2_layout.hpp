// On-disk constants of qcow2 (qemu's docs/interop/qcow2.txt). All integers are big-endian.
#pragma once

#include <cstddef>
#include <cstdint>

namespace difffuzz::qcow2 {

inline constexpr std::uint32_t magic = 0x514649fb;  // "QFI\xfb"
inline constexpr unsigned min_cluster_bits = 9;
inline constexpr unsigned max_cluster_bits = 21;
// qemu's bound of the L1 table.
inline constexpr std::uint64_t max_l1_bytes = std::uint64_t{32} << 20;
inline constexpr std::uint32_t max_backing_name = 1023;

// Byte offsets in the header.
inline constexpr std::size_t at_version = 4;
inline constexpr std::size_t at_backing_offset = 8;
inline constexpr std::size_t at_backing_length = 16;
inline constexpr std::size_t at_cluster_bits = 20;
inline constexpr std::size_t at_size = 24;
inline constexpr std::size_t at_encryption = 32;
inline constexpr std::size_t at_l1_entries = 36;
inline constexpr std::size_t at_l1_offset = 40;
inline constexpr std::size_t at_refcount_table_offset = 48;
inline constexpr std::size_t at_refcount_table_clusters = 56;
inline constexpr std::size_t at_snapshots = 60;
inline constexpr std::size_t at_snapshots_offset = 64;
// Version 3 only.
inline constexpr std::size_t at_incompatible = 72;
inline constexpr std::size_t at_compatible = 80;
inline constexpr std::size_t at_autoclear = 88;
inline constexpr std::size_t at_refcount_order = 96;
inline constexpr std::size_t at_header_length = 100;
inline constexpr std::size_t at_compression_type = 104;
inline constexpr std::size_t v2_header_bytes = 72;
inline constexpr std::size_t v3_min_header_bytes = 104;
inline constexpr std::size_t v3_header_bytes = 112;

inline constexpr std::uint64_t incompatible_dirty = 1U << 0U;
inline constexpr std::uint64_t incompatible_corrupt = 1U << 1U;
inline constexpr std::uint64_t incompatible_data_file = 1U << 2U;
inline constexpr std::uint64_t incompatible_compression = 1U << 3U;
inline constexpr std::uint64_t incompatible_extended_l2 = 1U << 4U;
inline constexpr std::uint64_t compatible_lazy_refcounts = 1U << 0U;
inline constexpr std::uint64_t autoclear_bitmaps = 1U << 0U;
inline constexpr std::uint64_t autoclear_raw_data = 1U << 1U;

// Header extensions: type, length of the data, the data padded to 8 bytes.
inline constexpr std::uint32_t extension_end = 0;
inline constexpr std::uint32_t extension_backing_format = 0xe2792aca;
// Offset and length of the LUKS header.
inline constexpr std::uint32_t extension_encryption = 0x0537be77;
inline constexpr std::uint32_t extension_feature_names = 0x6803f857;
inline constexpr std::uint32_t extension_data_file = 0x44415441;
inline constexpr std::uint32_t extension_bitmaps = 0x23852875;

// L1 and L2 entries.
inline constexpr std::uint64_t offset_mask = 0x00fffffffffffe00;
inline constexpr std::uint64_t copied_flag = std::uint64_t{1} << 63U;
inline constexpr std::uint64_t compressed_flag = std::uint64_t{1} << 62U;
inline constexpr std::uint64_t zero_flag = 1;
// Bit at which a compressed entry's count of additional sectors begins; below it lies the offset.
constexpr unsigned compressed_count_shift(unsigned cluster_bits) { return 62 - (cluster_bits - 8); }
inline constexpr std::uint64_t compressed_sector = 512;

// With extended L2 entries: subclusters of a cluster, and the smallest cluster that has them.
inline constexpr unsigned subclusters = 32;
inline constexpr unsigned min_extended_cluster_bits = 14;

// Of the header; 1 was an older cipher, which qemu-img reads no more.
inline constexpr std::uint32_t encryption_luks = 2;

enum class Compression : std::uint8_t { zlib = 0, zstd = 1 };

}  // namespace difffuzz::qcow2

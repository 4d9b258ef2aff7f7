// The header cluster of a qcow2 image, both ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "images/file.hpp"
#include "images/qcow2_layout.hpp"

namespace difffuzz::qcow2 {

// Where the directory of the persistent bitmaps lies.
struct BitmapDirectory {
    std::uint32_t bitmaps = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

// Where the LUKS header lies that the data clusters are encrypted by.
struct EncryptionHeader {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

// Members as on disk; offsets and sizes in bytes.
struct Header {
    std::uint32_t version = 3;
    unsigned cluster_bits = 16;
    std::uint64_t size = 0;
    std::uint32_t encryption = 0;
    std::uint32_t l1_entries = 0;
    std::uint64_t l1_offset = 0;
    std::uint64_t refcount_table_offset = 0;
    std::uint32_t refcount_table_clusters = 0;
    unsigned refcount_order = 4;  // a refcount takes 2^this bits
    std::uint32_t snapshots = 0;
    std::uint64_t snapshots_offset = 0;
    std::uint64_t incompatible = 0;
    std::uint64_t compatible = 0;
    std::uint64_t autoclear = 0;
    Compression compression = Compression::zlib;
    std::string backing_name;    // empty: no backing file
    std::string backing_format;  // empty: not recorded
    std::string data_file;       // empty: not recorded
    std::optional<BitmapDirectory> bitmaps;
    std::optional<EncryptionHeader> encryption_header;

    std::uint64_t cluster_bytes() const { return std::uint64_t{1} << cluster_bits; }
    bool extended_l2() const { return (incompatible & incompatible_extended_l2) != 0; }
    bool has_data_file() const { return (incompatible & incompatible_data_file) != 0; }
    unsigned l2_entry_bytes() const { return extended_l2() ? 16 : 8; }
    // Entries of one L2 table, and the bytes of the guest that it covers.
    std::uint64_t l2_entries() const { return cluster_bytes() / l2_entry_bytes(); }
    std::uint64_t l2_covers() const { return l2_entries() << cluster_bits; }
};

// Reads it from any file. Throws ImageError unless magic, version, cluster size, name lengths and
// extensions are those of a qcow2 image; the rest is not judged. With `found`, whatever names were
// read before that are in there.
Header read_header(const File& file, Header* found = nullptr);

// The header with its extensions and the backing file's name, as they begin the first cluster,
// which they must fit in. Of version 2 it has no member that only version 3 knows; of version 3 it
// has a table of feature names where there is room for it.
std::vector<std::byte> encode_header(const Header& header);

}  // namespace difffuzz::qcow2

// Where the bytes of a qcow2 image's guest lie.
#pragma once

#include <cstdint>
#include <string>

#include "images/file.hpp"
#include "images/metadata_cache.hpp"
#include "images/qcow2_header.hpp"

namespace difffuzz::qcow2 {

// What lies at a guest offset, for `length` bytes from there on.
struct Mapping {
    enum class Kind { unallocated, zero, data, compressed };
    Kind kind = Kind::unallocated;
    std::uint64_t length = 0;
    std::uint64_t host = 0;   // data: host offset of the first byte; compressed: of the stream
    std::uint64_t bytes = 0;  // compressed: bytes that the stream may take
};

// Looks offsets up in the tables of an image that require_readable() accepts. Both arguments
// outlive it.
class Mapper {
public:
    Mapper(const File& file, const Header& header)
        : file_(file), header_(header), cluster_bytes_(header.cluster_bytes()), tables_(file) {}

    // Throws ImageError where the tables are broken.
    Mapping map(std::uint64_t offset);

private:
    Mapping map_entry(std::uint64_t entry, std::uint64_t offset) const;
    Mapping map_subclusters(std::uint64_t entry, std::uint64_t bitmap, std::uint64_t offset) const;
    Mapping compressed(std::uint64_t entry, std::uint64_t offset) const;
    std::uint64_t host_cluster(std::uint64_t entry, std::uint64_t offset) const;
    bool has_host_cluster(std::uint64_t entry) const;
    [[noreturn]] void fail(const std::string& what) const;

    const File& file_;
    const Header& header_;
    std::uint64_t cluster_bytes_;
    MetadataCache tables_;
};

// Throws ImageError for everything in the header that cannot be read in-process, or that qemu-img
// refuses: encryption, unknown features, an L1 table that is too small, too large or elsewhere.
void require_readable(const File& file, const Header& header);

}  // namespace difffuzz::qcow2

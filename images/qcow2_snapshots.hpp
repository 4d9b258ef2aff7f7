// Internal snapshots of qcow2 images: the table that lists them, both ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "images/content_source.hpp"
#include "images/file.hpp"
#include "images/qcow2_header.hpp"

namespace difffuzz::qcow2 {

struct Snapshot {
    std::string id;
    std::string name;        // bytes
    std::uint64_t size = 0;  // virtual bytes
    std::uint64_t l1_offset = 0;
    std::uint32_t l1_entries = 0;
    // When it was taken.
    std::uint32_t seconds = 0;  // of the epoch
    std::uint32_t nanoseconds = 0;
};

// The snapshot table: without state of a machine, and without its count of instructions (-1).
std::vector<std::byte> encode_snapshots(std::span<const Snapshot> snapshots);

// All snapshots that a file lists, in order. One that records no size has the image's. Throws
// ImageError where qemu-img would refuse the table: unaligned, past the end of the file, above
// 65536 snapshots, 64 MiB in all or 1 KiB of extra data each. Their L1 tables are not looked at.
std::vector<Snapshot> read_snapshots(const File& file, const Header& header);
std::vector<Snapshot> list_snapshots(const std::string& directory, const std::string& name);

// What the guest read when the snapshot was taken, through the backing files that the image has
// now. Its size is that of the disk then. Throws as open_image() does, and when no snapshot has the
// id; of two with the same id the first counts.
std::unique_ptr<ContentSource> open_snapshot(const std::string& directory, const std::string& name,
                                             const std::string& snapshot_id);

}  // namespace difffuzz::qcow2

#include "images/qcow2_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "images/bytes.hpp"
#include "images/image_error.hpp"
#include "images/qcow2_layout.hpp"

namespace difffuzz::qcow2 {

void Mapper::fail(const std::string& what) const {
    throw ImageError(fmt::format("{}: {}", file_.name(), what));
}

std::uint64_t Mapper::host_cluster(std::uint64_t entry, std::uint64_t offset) const {
    const std::uint64_t host = entry & offset_mask;
    if (host % cluster_bytes_ != 0) {
        fail(fmt::format("the cluster of guest offset {} lies unaligned at {}", offset, host));
    }
    const bool zero = !header_.extended_l2() && (entry & zero_flag) != 0;
    if (header_.has_data_file() && host != offset / cluster_bytes_ * cluster_bytes_ &&
        (zero ? host != 0 : has_host_cluster(entry))) {
        fail(fmt::format("the cluster of guest offset {} lies at {} of the data file", offset,
                         host));
    }
    return host;
}

// Offset 0 stands for no cluster, but a data file has a cluster there.
bool Mapper::has_host_cluster(std::uint64_t entry) const {
    return (entry & offset_mask) != 0 || (header_.has_data_file() && (entry & copied_flag) != 0);
}

Mapping Mapper::compressed(std::uint64_t entry, std::uint64_t offset) const {
    const unsigned shift = compressed_count_shift(header_.cluster_bits);
    const std::uint64_t count_mask = (std::uint64_t{1} << (62 - shift)) - 1;
    const std::uint64_t host = entry & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t sectors = (entry >> shift & count_mask) + 1;
    return {Mapping::Kind::compressed, cluster_bytes_ - offset % cluster_bytes_, host,
            sectors * compressed_sector - host % compressed_sector};
}

Mapping Mapper::map_entry(std::uint64_t entry, std::uint64_t offset) const {
    const std::uint64_t within = offset % cluster_bytes_;
    const std::uint64_t length = cluster_bytes_ - within;
    if ((entry & zero_flag) != 0) {
        if (header_.version == 2) {
            fail(fmt::format("guest offset {} has the zero flag, which version 2 lacks", offset));
        }
        host_cluster(entry, offset);
        return {Mapping::Kind::zero, length, 0, 0};
    }
    const std::uint64_t host = host_cluster(entry, offset);
    if (!has_host_cluster(entry)) {
        return {Mapping::Kind::unallocated, length, 0, 0};
    }
    return {Mapping::Kind::data, length, host + within, 0};
}

// The low half of the bitmap says which subclusters are allocated, the high half which read as
// zeros.
Mapping Mapper::map_subclusters(std::uint64_t entry, std::uint64_t bitmap,
                                std::uint64_t offset) const {
    const std::uint64_t within = offset % cluster_bytes_;
    const std::uint64_t subcluster_bytes = cluster_bytes_ / subclusters;
    const std::uint64_t index = within / subcluster_bytes;
    const bool allocated = (bitmap >> index & 1U) != 0;
    const bool zero = (bitmap >> (index + subclusters) & 1U) != 0;
    const std::uint64_t host = host_cluster(entry, offset);
    if ((allocated && zero) || (allocated && !has_host_cluster(entry))) {
        fail(fmt::format("the subcluster of guest offset {} is in an impossible state", offset));
    }
    const std::uint64_t length = subcluster_bytes - within % subcluster_bytes;
    if (zero) {
        return {Mapping::Kind::zero, length, 0, 0};
    }
    if (!allocated) {
        return {Mapping::Kind::unallocated, length, 0, 0};
    }
    return {Mapping::Kind::data, length, host + within, 0};
}

Mapping Mapper::map(std::uint64_t offset) {
    const std::uint64_t covers = header_.l2_covers();
    const std::uint64_t l1_index = offset / covers;
    const std::uint64_t l1_at = header_.l1_offset + l1_index * 8;
    const std::uint64_t l2_table = tables_.entry(l1_at) & offset_mask;
    if (l2_table == 0) {
        const std::uint64_t missing = tables_.zero_entries(l1_at, 8, header_.l1_entries - l1_index);
        return {Mapping::Kind::unallocated,
                std::max<std::uint64_t>(missing, 1) * covers - offset % covers, 0, 0};
    }
    if (l2_table % cluster_bytes_ != 0) {
        fail(fmt::format("the L2 table of guest offset {} lies unaligned at {}", offset, l2_table));
    }
    const std::uint64_t index = offset / cluster_bytes_ % header_.l2_entries();
    const std::uint64_t at = l2_table + index * header_.l2_entry_bytes();
    const std::uint64_t entry = tables_.entry(at);
    if (const std::uint64_t missing =
            tables_.zero_entries(at, header_.l2_entry_bytes(), header_.l2_entries() - index);
        missing != 0) {
        return {Mapping::Kind::unallocated, missing * cluster_bytes_ - offset % cluster_bytes_, 0,
                0};
    }
    if ((entry & compressed_flag) != 0) {
        if (header_.has_data_file()) {
            fail(fmt::format("guest offset {} is compressed, in a data file", offset));
        }
        return compressed(entry, offset);
    }
    return header_.extended_l2() ? map_subclusters(entry, tables_.entry(at + 8), offset)
                                 : map_entry(entry, offset);
}

void require_readable(const File& file, const Header& header) {
    const auto fail = [&](const std::string& what) {
        throw ImageError(fmt::format("{}: {}", file.name(), what));
    };
    const std::uint64_t known = incompatible_dirty | incompatible_corrupt | incompatible_data_file |
                                incompatible_compression | incompatible_extended_l2;
    if (header.encryption != 0 &&
        (header.encryption != encryption_luks || !header.encryption_header)) {
        fail("the image is encrypted by another method than LUKS");
    }
    if (header.has_data_file() && header.data_file.empty()) {
        fail("the image keeps its data in another file and does not say in which");
    }
    if ((header.incompatible & ~known) != 0) {
        fail(fmt::format("unknown incompatible features {:#x}", header.incompatible & ~known));
    }
    if (((header.incompatible & incompatible_compression) != 0) !=
        (header.compression != Compression::zlib)) {
        fail("the compression type and its feature bit contradict one another");
    }
    if (header.extended_l2() && header.cluster_bits < min_extended_cluster_bits) {
        fail("extended L2 entries with clusters that are too small");
    }
    const std::uint64_t needed = divide_up(header.size, header.l2_covers());
    if (std::uint64_t{header.l1_entries} * 8 > max_l1_bytes || needed > header.l1_entries) {
        fail(fmt::format("an L1 table of {} entries for {} bytes", header.l1_entries, header.size));
    }
    if (header.l1_offset % header.cluster_bytes() != 0 || header.l1_offset > file.size()) {
        fail(fmt::format("an L1 table at {}", header.l1_offset));
    }
}

}  // namespace difffuzz::qcow2

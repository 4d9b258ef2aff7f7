// The bytes of a qcow2 image's data clusters.
#pragma once

#include <cstdint>
#include <span>

#include "images/content_source.hpp"
#include "images/qcow2_plan.hpp"
#include "images/sparse_writer.hpp"

namespace difffuzz::qcow2 {

struct ClusterShape {
    std::uint64_t bytes = 0;
    unsigned subclusters = 1;
    // Whether subclusters with the zero flag hold foreign bytes, so that who overlooks the flag is
    // found out.
    bool foreign_bytes = true;
    // The master key of an encrypted image, else empty.
    std::span<const std::byte> key = {};
};

// Writes a plain cluster to `offset`: the guest's bytes where `host.state` has data. Zeros, and
// unallocated subclusters, are left out. In an encrypted image zeros are data; a sector's number is
// that of its place in the file.
void write_plain_cluster(const HostCluster& host, const ContentSource& content,
                         const ClusterShape& shape, std::uint64_t offset, SparseWriter& out);

// Writes all compressed clusters of the plan, their area being at `offset`.
void write_compressed_clusters(const Plan& plan, std::uint64_t offset, SparseWriter& out);

}  // namespace difffuzz::qcow2

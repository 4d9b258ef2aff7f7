// The bytes of a qcow2 image's data clusters.
#pragma once

#include <cstdint>

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
};

// Writes a plain cluster to `offset`: the guest's bytes where `host.state` has data. Zeros, and
// unallocated subclusters, are left out.
void write_plain_cluster(const HostCluster& host, const ContentSource& content,
                         const ClusterShape& shape, std::uint64_t offset, SparseWriter& out);

// Writes all compressed clusters of the plan, their area being at `offset`.
void write_compressed_clusters(const Plan& plan, std::uint64_t offset, SparseWriter& out);

}  // namespace difffuzz::qcow2

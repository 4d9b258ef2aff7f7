// What the guest clusters of a qcow2 image become, write by write. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cases/image_recipe.hpp"
#include "images/interval_map.hpp"

namespace difffuzz::qcow2 {

// What a guest cluster has in the file.
enum class Host : std::uint8_t { none, plain, compressed };

// A guest cluster at one moment; unallocated if it has neither host nor zeros. Bit i stands for
// subcluster i; without extended L2 entries a cluster is its own only subcluster. Both masks are
// empty where the host is `compressed`.
struct ClusterState {
    Host host = Host::none;
    // The part of the content program in which the host cluster was written. Two moments share a
    // host cluster when they agree in this.
    std::uint32_t part = 0;
    std::uint32_t data = 0;   // subclusters that lie in the host cluster
    std::uint32_t zeros = 0;  // subclusters that read as zeros
    bool operator==(const ClusterState&) const = default;
};

// By guest cluster; what is not there is unallocated.
using ClusterMap = IntervalMap<ClusterState>;

struct StateRules {
    unsigned cluster_bits = 16;
    unsigned subclusters = 1;     // of a cluster: 1, or 32 with extended L2 entries
    std::uint64_t disk_size = 0;  // bytes
    bool zero_flag = true;        // version 3 has one
    bool backing = false;
};

// The clusters at the end of each part of the program: part k is the writes before `part_ends[k]`
// that belong to no earlier part, and the last part is the rest. Each write does this:
//   1. write: the subclusters that it touches become data. A host cluster of an earlier part is
//      replaced by one of this part;
//   2. compressed: the clusters become compressed;
//   3. zero: the subclusters that it covers get the zero flag, and their host cluster, if it is a
//      plain one, stays allocated, be it of an earlier part; those that it only touches become
//      data. Without a zero flag, it is a write, but leaves alone what is unallocated without a
//      backing file below;
//   4. unmap: the clusters that it covers lose their host cluster. With a backing file they get the
//      zero flag, without they are unallocated. A last cluster that it covers only in part is done
//      by 3.
// A write that ends at the end of the disk covers the last cluster to its end.
std::vector<ClusterMap> states_after(const std::vector<ContentWrite>& writes,
                                     std::span<const std::uint32_t> part_ends,
                                     const StateRules& rules);

}  // namespace difffuzz::qcow2

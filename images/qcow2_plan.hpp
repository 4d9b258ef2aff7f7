// Which tables and host clusters a qcow2 image needs, and who refers to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "images/content_source.hpp"
#include "images/qcow2_layout.hpp"
#include "images/qcow2_states.hpp"

namespace difffuzz::qcow2 {

inline constexpr std::size_t no_host = SIZE_MAX;

// A guest cluster that is not unallocated.
struct Entry {
    std::uint64_t cluster = 0;  // guest offset / cluster size
    ClusterState state;
    std::size_t host = no_host;  // in Plan::hosts
};

// An L2 table.
struct Table {
    std::uint64_t l1_index = 0;
    // Its entries: [begin, end) of Plan::entries, ascending.
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint32_t references = 0;  // L1 tables that lead to it
    bool active = false;           // the active state's is one of them
};

struct HostCluster {
    std::uint64_t cluster = 0;  // of the guest, whose content it holds
    ClusterState state;         // of that one at the end of the part that wrote it
    std::uint32_t references = 0;
    bool compressed = false;
    // Plain: its number among the plain ones. Compressed: its first byte among the compressed
    // bytes. Both count from the start of their area.
    std::uint64_t position = 0;
    // Compressed: its bytes in Plan::compressed.
    std::size_t bytes_begin = 0;
    std::size_t bytes_end = 0;
};

struct Plan {
    std::vector<Entry> entries;
    std::vector<Table> tables;
    std::vector<HostCluster> hosts;
    // For each state, the last of which is the active one: its tables, by ascending L1 index. A
    // table in which nothing changed is that of the state before.
    std::vector<std::vector<std::size_t>> states;
    std::uint64_t plain = 0;  // plain host clusters
    std::vector<std::byte> compressed;
    // References to each host cluster of the area of compressed bytes.
    std::vector<std::uint64_t> compressed_references;
};

struct PlanRules {
    std::uint64_t cluster_bytes = 0;
    std::uint64_t l2_entries = 0;  // of one table
    unsigned subclusters = 1;
    Compression compression = Compression::zlib;
    std::uint64_t max_references = 0;  // what a refcount can hold
};

// `contents` holds what the guest reads at the end of each part. Compressed clusters that become no
// smaller are plain. The others lie byte by byte one behind the other, except that none begins in a
// host cluster that cannot count it any more. Plain and compressed ones are each ordered by part,
// then by guest offset.
Plan plan_image(const std::vector<ClusterMap>& states,
                std::span<const ContentSource* const> contents, const PlanRules& rules);

// The guest's bytes from `offset` on; zeros past the end of the disk.
void read_guest(const ContentSource& content, std::uint64_t offset, std::span<std::byte> bytes);

}  // namespace difffuzz::qcow2

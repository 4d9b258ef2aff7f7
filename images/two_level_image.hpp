// The mapping that qed and version 1 of qcow share: an L1 table of offsets of L2 tables of offsets
// of clusters, 64 bits each, 0 where there is none.
#pragma once

#include <bit>
#include <cstdint>

#include "images/mapped_reader.hpp"
#include "images/touched_blocks.hpp"

namespace difffuzz {

struct TwoLevelMapping {
    std::endian order = std::endian::little;
    std::uint64_t cluster_bytes = 0;
    std::uint64_t l1_offset = 0;
    std::uint64_t l1_entries = 0;
    std::uint64_t l2_entries = 0;  // of one table

    std::uint64_t l2_covers() const { return l2_entries * cluster_bytes; }
};

// L2 entry of a cluster of zeros, where the format has such.
inline constexpr std::uint64_t zero_cluster = 1;

// Writes the tables and the clusters of data of `blocks`, whose unit is the cluster: L1 entries at
// their place, then from `tables_offset` on (a multiple of the cluster, past the L1 table) the L2
// tables, each of whole clusters, then the data in ascending order. Clusters of use `zero` get the
// entry `zero_entry`. Returns the end of the file.
std::uint64_t write_two_level(const TwoLevelMapping& mapping, std::uint64_t tables_offset,
                              std::uint64_t zero_entry, const IntervalMap<BlockUse>& blocks,
                              const ContentSource& content, SparseWriter& out);

// Reads through such tables. A mapping that contradicts itself is an error.
class TwoLevelReader : public MappedReader {
public:
    // The L1 table covers `size` bytes; l1_offset is a multiple of 8.
    TwoLevelReader(File file, std::uint64_t size, const TwoLevelMapping& mapping,
                   bool has_zero_clusters, std::unique_ptr<ContentSource> backing);

private:
    MappedRun map(std::uint64_t offset) const override;
    std::uint64_t entry(std::uint64_t offset) const;

    TwoLevelMapping mapping_;
    bool has_zero_clusters_;
};

}  // namespace difffuzz

// Refcounts of host clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace difffuzz::qcow2 {

// Clusters that the refcounts of a file take.
struct RefcountArea {
    std::uint64_t table_clusters = 0;
    std::uint64_t blocks = 0;  // one cluster each
};

// For a file that has `rest` clusters beside them: they count themselves, too. `bits` is the width
// of a refcount: 1, 2, 4, 8, 16, 32 or 64.
RefcountArea refcount_area(std::uint64_t rest, std::uint64_t cluster_bytes, unsigned bits);

// Refcounts one after the other as in blocks that follow one another: big-endian, narrow ones from
// the lowest bits of a byte on. Each must fit.
std::vector<std::byte> encode_refcounts(std::span<const std::uint64_t> counts, unsigned bits);

// The largest refcount of this width.
constexpr std::uint64_t max_refcount(unsigned bits) {
    return bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
}

}  // namespace difffuzz::qcow2

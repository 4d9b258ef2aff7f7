// Which part of a campaign's cases one machine runs.
#pragma once

#include <cstdint>

namespace difffuzz {

// More than any schedule makes; also bounds the gaps of a journal.
inline constexpr std::uint64_t max_shards = std::uint64_t{1} << 20;

// The number of cases of a campaign that time alone bounds: more than any duration can run.
inline constexpr std::uint64_t unbounded_iterations = std::uint64_t{1} << 40;

struct Shard {
    std::uint64_t index = 0;  // 0-based
    std::uint64_t count = 1;
    bool holds(std::uint64_t iteration) const { return iteration % count == index; }
    bool operator==(const Shard&) const = default;
};

}  // namespace difffuzz

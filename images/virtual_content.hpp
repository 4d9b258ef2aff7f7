// The guest-visible content of an image in a form that is small to keep and quick to compare.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "images/content_source.hpp"

namespace difffuzz {

inline constexpr std::uint64_t sector_bytes = 512;

struct ContentSector {
    std::uint64_t index = 0;  // in units of sector_bytes
    std::uint64_t hash = 0;   // XXH3-64 of the sector's bytes (the last one may be shorter)
    bool operator==(const ContentSector&) const = default;
};

// Sectors that are not all zero, ascending. Two images have equal content when these are equal:
// holes, zero clusters and written zeros are the same.
struct VirtualContent {
    std::uint64_t size = 0;  // bytes
    std::vector<ContentSector> sectors;
    bool operator==(const VirtualContent&) const = default;
};

VirtualContent summarise(const ContentSource& source);

// Index of the first sector in which the two differ within the smaller of both sizes.
std::optional<std::uint64_t> first_difference(const VirtualContent& a, const VirtualContent& b);

}  // namespace difffuzz

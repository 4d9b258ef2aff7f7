#include "images/vpc.hpp"

#include <algorithm>

namespace difffuzz {
namespace {

constexpr std::uint64_t max_geometry_sectors = std::uint64_t{65535} * 16 * 255;

// cylinders x heads x sectors per track.
std::uint64_t geometry_sectors(std::uint64_t total) {
    std::uint64_t per_track = 255;
    std::uint64_t heads = 16;
    if (total < std::uint64_t{65535} * 16 * 63) {
        per_track = 17;
        heads = std::max<std::uint64_t>(4, (total / per_track + 1023) / 1024);
        if (total / per_track >= heads * 1024 || heads > 16) {
            per_track = 31;
            heads = 16;
        }
        if (total / per_track >= heads * 1024) {
            per_track = 63;
        }
    }
    return total / per_track / heads * heads * per_track;
}

}  // namespace

std::uint64_t vpc_sectors(std::uint64_t sectors) {
    if (sectors >= max_geometry_sectors) {
        return sectors;
    }
    std::uint64_t attempt = sectors;
    std::uint64_t holds = geometry_sectors(attempt);
    while (holds < sectors) {
        holds = geometry_sectors(++attempt);
    }
    return holds < max_geometry_sectors ? holds : sectors;
}

}  // namespace difffuzz

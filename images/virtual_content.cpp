#include "images/virtual_content.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "images/bytes.hpp"
#include "images/image_error.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{256} << 10;

// A hostile image can map its whole virtual size onto one cluster, so that file and memory stay
// small while the content is endless. No case of ours comes near these.
constexpr std::uint64_t max_data_bytes = std::uint64_t{4} << 30;
constexpr std::uint64_t max_extents = std::uint64_t{1} << 22;
constexpr std::size_t max_sectors = std::size_t{1} << 21;

bool all_zero(std::span<const std::byte> bytes) {
    return bytes.empty() || (bytes[0] == std::byte{0} &&
                             std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

void append_sectors(std::uint64_t offset, std::span<const std::byte> bytes,
                    std::vector<ContentSector>& sectors) {
    for (std::size_t at = 0; at < bytes.size(); at += sector_bytes) {
        const auto sector =
            bytes.subspan(at, std::min<std::size_t>(sector_bytes, bytes.size() - at));
        if (!all_zero(sector)) {
            sectors.push_back(
                {(offset + at) / sector_bytes, XXH3_64bits(sector.data(), sector.size())});
        }
    }
}

}  // namespace

VirtualContent summarise(const ContentSource& source) {
    VirtualContent content{source.size(), {}};
    std::vector<std::byte> buffer;
    std::uint64_t data = 0;
    std::uint64_t extents = 0;
    // `at` is always at the start of a sector; a sector that only begins in a zero extent is read.
    for (std::uint64_t at = 0; at < content.size;) {
        const ContentExtent extent = source.extent(at);
        const std::uint64_t end = at + extent.length;
        if (++extents > max_extents) {
            throw ImageError(fmt::format(
                "the content is too fragmented to compare (more than {} extents)", max_extents));
        }
        if (extent.zero && (end == content.size || end - at >= sector_bytes)) {
            at = end == content.size ? end : end / sector_bytes * sector_bytes;
            continue;
        }
        const std::uint64_t stop =
            content.size - end < sector_bytes ? content.size : round_up(end, sector_bytes);
        while (at < stop) {
            const std::size_t length = std::min<std::uint64_t>(chunk_bytes, stop - at);
            buffer.resize(std::max(buffer.size(), length));
            const auto bytes = std::span(buffer).first(length);
            source.read(at, bytes);
            append_sectors(at, bytes, content.sectors);
            at += length;
            data += length;
            if (data > max_data_bytes || content.sectors.size() > max_sectors) {
                throw ImageError(fmt::format(
                    "the content is too large to compare (more than {} bytes of data, or {} "
                    "sectors that are not zero)",
                    max_data_bytes, max_sectors));
            }
        }
    }
    return content;
}

std::optional<std::uint64_t> first_difference(const VirtualContent& a, const VirtualContent& b) {
    const std::uint64_t common = divide_up(std::min(a.size, b.size), sector_bytes);
    auto left = a.sectors.begin();
    auto right = b.sectors.begin();
    while (left != a.sectors.end() && right != b.sectors.end() && *left == *right) {
        ++left;
        ++right;
    }
    std::uint64_t index = common;
    if (left != a.sectors.end()) {
        index = std::min(index, left->index);
    }
    if (right != b.sectors.end()) {
        index = std::min(index, right->index);
    }
    return index < common ? std::optional(index) : std::nullopt;
}

}  // namespace difffuzz

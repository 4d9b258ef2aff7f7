#include "images/two_level_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "images/bytes.hpp"
#include "images/image_error.hpp"

namespace difffuzz {
namespace {

// All tables may be one, so that a small file has many clusters to look at.
constexpr std::uint64_t max_read_clusters = std::uint64_t{1} << 26;

// Calls f(cluster, use) for all clusters, ascending.
template <typename F>
void for_each_cluster(const IntervalMap<BlockUse>& blocks, F&& f) {
    for (const auto& [begin, range] : blocks.ranges()) {
        for (std::uint64_t cluster = begin; cluster < range.end; ++cluster) {
            f(cluster, range.value);
        }
    }
}

}  // namespace

std::uint64_t write_two_level(const TwoLevelMapping& mapping, std::uint64_t tables_offset,
                              std::uint64_t zero_entry, const IntervalMap<BlockUse>& blocks,
                              const ContentSource& content, SparseWriter& out) {
    std::vector<std::uint64_t> tables;  // L1 indices of the L2 tables that exist, ascending
    for_each_cluster(blocks, [&](std::uint64_t cluster, BlockUse) {
        const std::uint64_t index = cluster / mapping.l2_entries;
        if (tables.empty() || tables.back() != index) {
            tables.push_back(index);
        }
    });
    const auto put_entry = [&](std::uint64_t offset, std::uint64_t value) {
        std::array<std::byte, 8> bytes{};
        mapping.order == std::endian::little ? store_le(bytes.data(), value)
                                             : store_be(bytes.data(), value);
        out.put(offset, bytes);
    };
    const std::uint64_t stride = round_up(mapping.l2_entries * 8, mapping.cluster_bytes);
    for (std::size_t number = 0; number < tables.size(); ++number) {
        put_entry(mapping.l1_offset + tables[number] * 8, tables_offset + number * stride);
    }
    const std::uint64_t data_offset = tables_offset + tables.size() * stride;
    std::uint64_t next = data_offset;
    std::size_t number = 0;
    for_each_cluster(blocks, [&](std::uint64_t cluster, BlockUse use) {
        while (tables[number] != cluster / mapping.l2_entries) {
            ++number;
        }
        const std::uint64_t at = tables_offset + number * stride + cluster % mapping.l2_entries * 8;
        if (use == BlockUse::zero) {
            put_entry(at, zero_entry);
        } else {
            put_entry(at, next);
            next += mapping.cluster_bytes;
        }
    });
    std::uint64_t host = data_offset;
    for_each_cluster(blocks, [&](std::uint64_t cluster, BlockUse use) {
        if (use == BlockUse::data) {
            put_content(content, cluster * mapping.cluster_bytes, mapping.cluster_bytes, host, out);
            host += mapping.cluster_bytes;
        }
    });
    return next;
}

TwoLevelReader::TwoLevelReader(File file, std::uint64_t size, const TwoLevelMapping& mapping,
                               bool has_zero_clusters, std::unique_ptr<ContentSource> backing)
    : MappedReader(std::move(file), size, std::move(backing)),
      mapping_(mapping),
      has_zero_clusters_(has_zero_clusters) {
    if (mapping.l1_offset % 8 != 0 || mapping.l1_offset >= file_size() ||
        divide_up(size, mapping.l2_covers()) > mapping.l1_entries ||
        size / mapping.cluster_bytes > max_read_clusters) {
        fail(fmt::format("an L1 table of {} entries at {} for {} bytes", mapping.l1_entries,
                         mapping.l1_offset, size));
    }
}

std::uint64_t TwoLevelReader::entry(std::uint64_t offset) const {
    const std::uint64_t value = entry_be64(offset);
    return mapping_.order == std::endian::big ? value : swap_bytes(value);
}

MappedRun TwoLevelReader::map(std::uint64_t offset) const {
    const std::uint64_t covers = mapping_.l2_covers();
    const std::uint64_t l1_at = mapping_.l1_offset + offset / covers * 8;
    const std::uint64_t table = entry(l1_at);
    if (table == 0) {
        const std::uint64_t missing = zero_entries(l1_at, 8, mapping_.l1_entries - offset / covers);
        return {MappedRun::Kind::unallocated,
                std::max<std::uint64_t>(missing, 1) * covers - offset % covers, 0};
    }
    const std::uint64_t index = offset % covers / mapping_.cluster_bytes;
    const std::uint64_t within = offset % mapping_.cluster_bytes;
    const std::uint64_t length = mapping_.cluster_bytes - within;
    if (table % mapping_.cluster_bytes != 0 || table >= file_size()) {
        fail(fmt::format("an L2 table at {}", table));
    }
    const std::uint64_t at = table + index * 8;
    const std::uint64_t host = entry(at);
    if (host == 0) {
        const std::uint64_t missing = zero_entries(at, 8, mapping_.l2_entries - index);
        return {MappedRun::Kind::unallocated,
                std::max<std::uint64_t>(missing, 1) * mapping_.cluster_bytes - within, 0};
    }
    if (host == zero_cluster && has_zero_clusters_) {
        return {MappedRun::Kind::zero, length, 0};
    }
    // Also what is compressed or encrypted, which sets high bits.
    if (host % mapping_.cluster_bytes != 0 || host >= file_size()) {
        fail(fmt::format("guest offset {} lies at {}", offset, host));
    }
    return {MappedRun::Kind::data, length, host + within};
}

}  // namespace difffuzz

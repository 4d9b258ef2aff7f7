#include "images/qcow2_clusters.hpp"

#include <algorithm>
#include <span>

#include "images/content_fill.hpp"
#include "images/luks_keys.hpp"

namespace difffuzz::qcow2 {

void write_plain_cluster(const HostCluster& host, const ContentSource& content,
                         const ClusterShape& shape, std::uint64_t offset, SparseWriter& out) {
    const std::uint64_t guest = host.cluster * shape.bytes;
    const std::uint64_t unit = shape.bytes / shape.subclusters;
    for (std::uint64_t within = 0; within < shape.bytes;) {
        const std::uint64_t index = within / unit;
        const std::uint64_t rest = (index + 1) * unit - within;
        const bool foreign = (host.state.zeros >> index & 1U) != 0 && shape.foreign_bytes;
        const bool data = (host.state.data >> index & 1U) != 0 && guest + within < content.size();
        ContentExtent extent{rest, !foreign};
        if (data && shape.key.empty()) {
            extent = content.extent(guest + within);
            extent.length = std::min(extent.length, rest);
        } else if (data) {
            extent.zero = false;
        }
        if (!extent.zero) {
            extent.length = std::min<std::uint64_t>(extent.length, SparseWriter::max_piece);
            const auto bytes = out.reserve(offset + within, extent.length);
            if (data) {
                read_guest(content, guest + within, bytes);
                if (!shape.key.empty()) {
                    luks::encrypt(shape.key, (offset + within) / luks::sector, bytes);
                }
            } else {
                fill_bytes(RandomFill{host.cluster}, within, bytes);
            }
        }
        within += extent.length;
    }
}

void write_compressed_clusters(const Plan& plan, std::uint64_t offset, SparseWriter& out) {
    const std::span bytes(plan.compressed);
    for (const HostCluster& host : plan.hosts) {
        if (host.compressed) {
            out.put(offset + host.position,
                    bytes.subspan(host.bytes_begin, host.bytes_end - host.bytes_begin));
        }
    }
}

}  // namespace difffuzz::qcow2

#include "images/qcow2_refcounts.hpp"

#include <cassert>

#include "images/bytes.hpp"

namespace difffuzz::qcow2 {

RefcountArea refcount_area(std::uint64_t rest, std::uint64_t cluster_bytes, unsigned bits) {
    const std::uint64_t per_block = cluster_bytes * 8 / bits;
    RefcountArea area;
    for (;;) {
        const std::uint64_t blocks = divide_up(rest + area.blocks + area.table_clusters, per_block);
        const std::uint64_t table = divide_up(blocks * 8, cluster_bytes);
        if (blocks == area.blocks && table == area.table_clusters) {
            return area;
        }
        area = {table, blocks};
    }
}

std::vector<std::byte> encode_refcounts(std::span<const std::uint64_t> counts, unsigned bits) {
    std::vector<std::byte> bytes(divide_up(counts.size() * bits, 8));
    const std::uint64_t value_bytes = divide_up(bits, 8);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        assert(counts[i] <= max_refcount(bits));
        if (bits < 8) {
            const std::uint64_t at = i * bits;
            bytes[at / 8] |= static_cast<std::byte>(counts[i] << at % 8);
            continue;
        }
        for (std::uint64_t byte = 0; byte < value_bytes; ++byte) {
            bytes[i * value_bytes + byte] =
                static_cast<std::byte>(counts[i] >> (value_bytes - 1 - byte) * 8);
        }
    }
    return bytes;
}

}  // namespace difffuzz::qcow2

#include "images/qcow2_builder.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <span>
#include <vector>

#include "images/bytes.hpp"
#include "images/content_fill.hpp"
#include "images/interval_map.hpp"
#include "images/qcow2_compression.hpp"
#include "images/qcow2_header.hpp"
#include "images/sparse_writer.hpp"

namespace difffuzz::qcow2 {
namespace {

enum class Kind : std::uint8_t { allocated, compressed, zero, zero_allocated };

// A guest cluster that has an L2 entry.
struct Cluster {
    std::uint64_t index = 0;  // guest offset / cluster size
    std::uint64_t table = 0;  // number of its L2 table among those that exist
    Kind kind = Kind::allocated;
    // Allocated: its number among the allocated clusters. Compressed: its place among the
    // compressed bytes. Both count from the start of their area.
    std::uint64_t position = 0;
    std::uint64_t length = 0;  // compressed bytes
};

struct Contents {
    std::vector<Cluster> clusters;  // ascending
    std::uint64_t l2_tables = 0;
    std::uint64_t allocated = 0;  // host clusters
    std::vector<std::byte> compressed;
};

// Offsets in units of clusters.
struct Layout {
    std::uint64_t refcount_table = 1;
    std::uint64_t refcount_blocks = 0;
    std::uint64_t l1 = 0;
    std::uint64_t l1_entries = 0;
    std::uint64_t l2 = 0;
    std::uint64_t allocated = 0;
    std::uint64_t compressed = 0;
    std::uint64_t end = 0;
};

class Builder {
public:
    Builder(const BuildOptions& options, const ContentSource& content)
        : options_(options),
          content_(content),
          cluster_bytes_(std::uint64_t{1} << options.cluster_bits),
          clusters_(divide_up(content.size(), cluster_bytes_)) {}

    void build(const std::vector<ContentWrite>& writes, const File& file);

private:
    IntervalMap<Kind> kinds_after(const std::vector<ContentWrite>& writes) const;
    Contents collect(const IntervalMap<Kind>& kinds) const;
    Layout lay_out(const Contents& contents) const;
    std::vector<std::uint16_t> refcounts(const Contents& contents, const Layout& layout) const;
    std::uint64_t l2_entry(const Cluster& cluster, const Layout& layout) const;

    void write_header(const Layout& layout, SparseWriter& out) const;
    void write_refcounts(const Contents& contents, const Layout& layout, SparseWriter& out) const;
    void write_tables(const Contents& contents, const Layout& layout, SparseWriter& out) const;
    void write_allocated(const Contents& contents, const Layout& layout, SparseWriter& out) const;

    // What the allocated cluster holds from `within` on; never reaches past it.
    ContentExtent extent_in(const Cluster& cluster, std::uint64_t within) const;
    // Guest bytes of the cluster from `within` on; zeros past the end of the image.
    void read_guest(std::uint64_t index, std::uint64_t within, std::span<std::byte> bytes) const;
    std::uint64_t l2_index(std::uint64_t cluster) const { return cluster / (cluster_bytes_ / 8); }

    const BuildOptions& options_;
    const ContentSource& content_;
    std::uint64_t cluster_bytes_;
    std::uint64_t clusters_;  // of the guest
};

IntervalMap<Kind> Builder::kinds_after(const std::vector<ContentWrite>& writes) const {
    IntervalMap<Kind> kinds;
    for (const ContentWrite& write : writes) {
        const std::uint64_t stop = write.offset + write.length;
        const std::uint64_t begin = write.offset / cluster_bytes_;
        const std::uint64_t end = divide_up(stop, cluster_bytes_);
        if (write.kind != WriteKind::zero) {
            kinds.assign(begin, end,
                         write.kind == WriteKind::write ? Kind::allocated : Kind::compressed);
            continue;
        }
        const std::uint64_t whole_begin = divide_up(write.offset, cluster_bytes_);
        const std::uint64_t whole_end = stop == content_.size() ? clusters_ : stop / cluster_bytes_;
        if (whole_begin >= whole_end) {
            kinds.assign(begin, end, Kind::allocated);
            continue;
        }
        kinds.assign(begin, whole_begin, Kind::allocated);
        kinds.assign(whole_end, end, Kind::allocated);
        IntervalMap<Kind> covered;
        kinds.visit(
            whole_begin, whole_end, [&](std::uint64_t from, std::uint64_t to, const Kind* before) {
                const bool keeps = before != nullptr &&
                                   (*before == Kind::allocated || *before == Kind::zero_allocated);
                covered.assign(from, to, keeps ? Kind::zero_allocated : Kind::zero);
            });
        for (const auto& [from, range] : covered.ranges()) {
            kinds.assign(from, range.end, range.value);
        }
    }
    return kinds;
}

Contents Builder::collect(const IntervalMap<Kind>& kinds) const {
    Contents contents;
    std::optional<Compressor> compressor;
    std::vector<std::byte> guest;
    for (const auto& [begin, range] : kinds.ranges()) {
        for (std::uint64_t index = begin; index < range.end; ++index) {
            const bool same_table = !contents.clusters.empty() &&
                                    l2_index(contents.clusters.back().index) == l2_index(index);
            contents.l2_tables += same_table ? 0 : 1;
            Cluster cluster{index, contents.l2_tables - 1, range.value, 0, 0};
            if (cluster.kind == Kind::compressed) {
                if (!compressor) {
                    compressor.emplace(options_.compression, cluster_bytes_);
                    guest.resize(cluster_bytes_);
                }
                read_guest(index, 0, guest);
                const auto bytes = compressor->compress(guest);
                cluster.kind = bytes.empty() ? Kind::allocated : Kind::compressed;
                cluster.position = contents.compressed.size();
                cluster.length = bytes.size();
                contents.compressed.insert(contents.compressed.end(), bytes.begin(), bytes.end());
            }
            if (cluster.kind == Kind::allocated || cluster.kind == Kind::zero_allocated) {
                cluster.position = contents.allocated++;
            }
            contents.clusters.push_back(cluster);
        }
    }
    return contents;
}

Layout Builder::lay_out(const Contents& contents) const {
    Layout layout;
    layout.l1_entries = divide_up(clusters_, cluster_bytes_ / 8);
    const std::uint64_t l1_clusters = divide_up(layout.l1_entries * 8, cluster_bytes_);
    const std::uint64_t rest = 1 + l1_clusters + contents.l2_tables + contents.allocated +
                               divide_up(contents.compressed.size(), cluster_bytes_);
    // Refcounts count the clusters that hold them, too: grow until they suffice.
    std::uint64_t blocks = 0;
    std::uint64_t table = 0;
    for (;;) {
        const std::uint64_t needed_blocks =
            divide_up(rest + blocks + table, cluster_bytes_ / sizeof(std::uint16_t));
        const std::uint64_t needed_table = divide_up(needed_blocks * 8, cluster_bytes_);
        if (needed_blocks == blocks && needed_table == table) {
            break;
        }
        blocks = needed_blocks;
        table = needed_table;
    }
    layout.refcount_blocks = layout.refcount_table + table;
    layout.l1 = layout.refcount_blocks + blocks;
    layout.l2 = layout.l1 + l1_clusters;
    layout.allocated = layout.l2 + contents.l2_tables;
    layout.compressed = layout.allocated + contents.allocated;
    layout.end = rest + blocks + table;
    return layout;
}

std::vector<std::uint16_t> Builder::refcounts(const Contents& contents,
                                              const Layout& layout) const {
    std::vector<std::uint16_t> counts(layout.end, 1);
    std::fill(counts.begin() + static_cast<std::ptrdiff_t>(layout.compressed), counts.end(),
              std::uint16_t{0});
    // A compressed cluster refers to every host cluster that its bytes lie in; the smallest
    // compressed cluster takes so many bytes that 16 bits cannot overflow.
    for (const Cluster& cluster : contents.clusters) {
        if (cluster.kind == Kind::compressed) {
            const std::uint64_t last = (cluster.position + cluster.length - 1) / cluster_bytes_;
            for (std::uint64_t at = cluster.position / cluster_bytes_; at <= last; ++at) {
                ++counts[static_cast<std::size_t>(layout.compressed + at)];
            }
        }
    }
    return counts;
}

std::uint64_t Builder::l2_entry(const Cluster& cluster, const Layout& layout) const {
    const std::uint64_t allocated = (layout.allocated + cluster.position) * cluster_bytes_;
    switch (cluster.kind) {
        case Kind::zero:
            return zero_flag;
        case Kind::zero_allocated:
            return copied_flag | allocated | zero_flag;
        case Kind::compressed: {
            const std::uint64_t begin = layout.compressed * cluster_bytes_ + cluster.position;
            const std::uint64_t more_sectors =
                (begin + cluster.length - 1) / compressed_sector - begin / compressed_sector;
            return compressed_flag | more_sectors << compressed_count_shift(options_.cluster_bits) |
                   begin;
        }
        case Kind::allocated:
            break;
    }
    return copied_flag | allocated;
}

void Builder::read_guest(std::uint64_t index, std::uint64_t within,
                         std::span<std::byte> bytes) const {
    const std::uint64_t begin = index * cluster_bytes_ + within;
    const std::uint64_t end =
        std::clamp<std::uint64_t>(content_.size(), begin, begin + bytes.size());
    const auto head = bytes.first(static_cast<std::size_t>(end - begin));
    if (!head.empty()) {
        content_.read(begin, head);
    }
    std::ranges::fill(bytes.subspan(head.size()), std::byte{0});
}

void Builder::write_header(const Layout& layout, SparseWriter& out) const {
    Header header;
    header.cluster_bits = options_.cluster_bits;
    header.size = content_.size();
    header.l1_entries = static_cast<std::uint32_t>(layout.l1_entries);
    header.l1_offset = layout.l1 * cluster_bytes_;
    header.refcount_table_offset = layout.refcount_table * cluster_bytes_;
    header.refcount_table_clusters =
        static_cast<std::uint32_t>(layout.refcount_blocks - layout.refcount_table);
    header.compression = options_.compression;
    header.incompatible = options_.compression == Compression::zlib ? 0 : incompatible_compression;
    header.compatible = options_.lazy_refcounts ? compatible_lazy_refcounts : 0;
    header.backing_name = options_.backing_name;
    header.backing_format = options_.backing_format;
    out.put(0, encode_header(header));
}

void Builder::write_refcounts(const Contents& contents, const Layout& layout,
                              SparseWriter& out) const {
    std::array<std::byte, 8> entry;
    for (std::uint64_t block = layout.refcount_blocks; block < layout.l1; ++block) {
        store_be(entry.data(), block * cluster_bytes_);
        out.put(layout.refcount_table * cluster_bytes_ + (block - layout.refcount_blocks) * 8,
                entry);
    }
    // The blocks follow one another, so their entries are one array.
    const std::vector<std::uint16_t> counts = refcounts(contents, layout);
    std::vector<std::byte> bytes(counts.size() * sizeof(std::uint16_t));
    for (std::size_t i = 0; i < counts.size(); ++i) {
        store_be(bytes.data() + i * sizeof(std::uint16_t), counts[i]);
    }
    out.put(layout.refcount_blocks * cluster_bytes_, bytes);
}

void Builder::write_tables(const Contents& contents, const Layout& layout,
                           SparseWriter& out) const {
    std::array<std::byte, 8> entry;
    std::uint64_t tables = 0;
    for (const Cluster& cluster : contents.clusters) {
        if (cluster.table == tables) {
            store_be(entry.data(), copied_flag | (layout.l2 + tables++) * cluster_bytes_);
            out.put(layout.l1 * cluster_bytes_ + l2_index(cluster.index) * 8, entry);
        }
    }
    for (const Cluster& cluster : contents.clusters) {
        store_be(entry.data(), l2_entry(cluster, layout));
        out.put(
            (layout.l2 + cluster.table) * cluster_bytes_ + cluster.index % (cluster_bytes_ / 8) * 8,
            entry);
    }
}

void Builder::write_allocated(const Contents& contents, const Layout& layout,
                              SparseWriter& out) const {
    for (const Cluster& cluster : contents.clusters) {
        if (cluster.kind != Kind::allocated && cluster.kind != Kind::zero_allocated) {
            continue;
        }
        const std::uint64_t host = (layout.allocated + cluster.position) * cluster_bytes_;
        for (std::uint64_t within = 0; within < cluster_bytes_;) {
            const ContentExtent extent = extent_in(cluster, within);
            const std::size_t length =
                std::min<std::uint64_t>(extent.length, SparseWriter::max_piece);
            if (extent.zero) {
                within += extent.length;
                continue;
            }
            const auto bytes = out.reserve(host + within, length);
            if (cluster.kind == Kind::allocated) {
                read_guest(cluster.index, within, bytes);
            } else {
                fill_bytes(RandomFill{cluster.index}, within, bytes);
            }
            within += length;
        }
    }
}

ContentExtent Builder::extent_in(const Cluster& cluster, std::uint64_t within) const {
    const std::uint64_t rest = cluster_bytes_ - within;
    const std::uint64_t guest = cluster.index * cluster_bytes_ + within;
    if (cluster.kind == Kind::zero_allocated) {
        return {rest, false};
    }
    if (guest >= content_.size()) {
        return {rest, true};
    }
    const ContentExtent extent = content_.extent(guest);
    return {std::min(extent.length, rest), extent.zero};
}

void Builder::build(const std::vector<ContentWrite>& writes, const File& file) {
    const Contents contents = collect(kinds_after(writes));
    const Layout layout = lay_out(contents);
    SparseWriter out(file);
    write_header(layout, out);
    write_refcounts(contents, layout, out);
    write_tables(contents, layout, out);
    write_allocated(contents, layout, out);
    out.put(layout.compressed * cluster_bytes_, contents.compressed);
    out.finish();
    file.resize(layout.end * cluster_bytes_);
}

}  // namespace

void build_image(const BuildOptions& options, const ContentSource& content,
                 const std::vector<ContentWrite>& writes, const std::string& directory,
                 const std::string& name) {
    Builder(options, content).build(writes, File::create(directory, name));
}

}  // namespace difffuzz::qcow2

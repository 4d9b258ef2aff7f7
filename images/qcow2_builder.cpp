#include "images/qcow2_builder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "images/bytes.hpp"
#include "images/file.hpp"
#include "images/luks_layout.hpp"
#include "images/luks_volume.hpp"
#include "images/qcow2_bitmaps.hpp"
#include "images/qcow2_clusters.hpp"
#include "images/qcow2_header.hpp"
#include "images/qcow2_plan.hpp"
#include "images/qcow2_refcounts.hpp"
#include "images/qcow2_snapshots.hpp"
#include "images/sparse_writer.hpp"

namespace difffuzz::qcow2 {
namespace {

constexpr std::uint64_t encryption_bytes = luks::payload_sector * luks::sector;

// Where each area begins, in units of clusters.
struct Layout {
    std::uint64_t refcount_table = 1;
    std::uint64_t refcount_blocks = 0;
    std::uint64_t l1 = 0;
    std::uint64_t l2 = 0;
    std::uint64_t plain = 0;
    std::uint64_t compressed = 0;
    std::uint64_t snapshot_l1 = 0;
    std::uint64_t snapshot_table = 0;
    std::uint64_t bitmaps = 0;
    std::uint64_t encryption = 0;
    std::uint64_t end = 0;
};

class Builder {
public:
    Builder(const BuildOptions& options, std::span<const ContentSource* const> contents,
            const std::vector<ContentWrite>& writes);

    // `data_file` takes the plain clusters; null: they are in `file`.
    void write(const File& file, const File* data_file) const;

private:
    PlanRules plan_rules() const;
    std::vector<ClusterMap> states_of(const std::vector<ContentWrite>& writes) const;
    Layout lay_out() const;
    std::vector<std::uint64_t> refcounts() const;
    Header header() const;
    std::vector<Snapshot> snapshots() const;
    // 1 for the L1 table of the active state, and of each snapshot.
    std::uint64_t l1_clusters() const { return divide_up(l1_entries_ * 8, cluster_bytes_); }
    std::uint64_t encryption_clusters() const {
        return options_.encrypted == nullptr ? 0 : divide_up(encryption_bytes, cluster_bytes_);
    }
    std::uint64_t plain_host_offset(const HostCluster& host) const;
    // The two words of an extended L2 entry; another one is the first of them.
    std::array<std::uint64_t, 2> l2_entry(const Entry& entry, const Table& table) const;
    std::uint64_t compressed_entry(const HostCluster& host) const;

    void write_refcounts(SparseWriter& out) const;
    void write_l1(std::size_t state, std::uint64_t offset, SparseWriter& out) const;
    void write_l2(SparseWriter& out) const;
    void write_plain(SparseWriter& out) const;
    void write_snapshots(SparseWriter& out) const;

    const BuildOptions& options_;
    std::span<const ContentSource* const> contents_;
    std::uint64_t disk_size_;
    std::uint64_t cluster_bytes_;
    std::uint64_t l2_entry_bytes_;
    std::uint64_t l2_entries_;  // of one table
    std::uint64_t l1_entries_;
    Plan plan_;
    BitmapArea bitmaps_;
    Layout layout_;
};

Builder::Builder(const BuildOptions& options, std::span<const ContentSource* const> contents,
                 const std::vector<ContentWrite>& writes)
    : options_(options),
      contents_(contents),
      disk_size_(contents.back()->size()),
      cluster_bytes_(std::uint64_t{1} << options.cluster_bits),
      l2_entry_bytes_(options.extended_l2 ? 16 : 8),
      l2_entries_(cluster_bytes_ / l2_entry_bytes_),
      l1_entries_(divide_up(disk_size_, l2_entries_ * cluster_bytes_)),
      plan_(plan_image(states_of(writes), contents, plan_rules())),
      bitmaps_(options.bitmaps, disk_size_, cluster_bytes_) {
    layout_ = lay_out();
}

PlanRules Builder::plan_rules() const {
    return {cluster_bytes_, l2_entries_, options_.extended_l2 ? subclusters : 1,
            options_.compression, max_refcount(options_.refcount_bits)};
}

std::vector<ClusterMap> Builder::states_of(const std::vector<ContentWrite>& writes) const {
    std::vector<std::uint32_t> part_ends;
    for (const SnapshotRecipe& snapshot : options_.snapshots) {
        part_ends.push_back(snapshot.after);
    }
    return states_after(writes, part_ends,
                        {options_.cluster_bits, options_.extended_l2 ? subclusters : 1, disk_size_,
                         options_.version == 3, !options_.backing_name.empty()});
}

Layout Builder::lay_out() const {
    const std::uint64_t plain = options_.data_file.empty() ? plan_.plain : 0;
    const std::uint64_t snapshot_clusters =
        divide_up(encode_snapshots(snapshots()).size(), cluster_bytes_);
    const std::uint64_t behind_refcounts = l1_clusters() * (1 + options_.snapshots.size()) +
                                           plan_.tables.size() + plain +
                                           plan_.compressed_references.size() + snapshot_clusters +
                                           bitmaps_.clusters() + encryption_clusters();
    const RefcountArea area =
        refcount_area(1 + behind_refcounts, cluster_bytes_, options_.refcount_bits);
    Layout layout;
    layout.refcount_blocks = layout.refcount_table + area.table_clusters;
    layout.l1 = layout.refcount_blocks + area.blocks;
    layout.l2 = layout.l1 + l1_clusters();
    layout.plain = layout.l2 + plan_.tables.size();
    layout.compressed = layout.plain + plain;
    layout.snapshot_l1 = layout.compressed + plan_.compressed_references.size();
    layout.snapshot_table = layout.snapshot_l1 + l1_clusters() * options_.snapshots.size();
    layout.bitmaps = layout.snapshot_table + snapshot_clusters;
    layout.encryption = layout.bitmaps + bitmaps_.clusters();
    layout.end = layout.encryption + encryption_clusters();
    return layout;
}

std::vector<std::uint64_t> Builder::refcounts() const {
    std::vector<std::uint64_t> counts(layout_.end, 1);
    for (std::size_t i = 0; i < plan_.tables.size(); ++i) {
        counts[layout_.l2 + i] = plan_.tables[i].references;
    }
    if (options_.data_file.empty()) {
        for (const HostCluster& host : plan_.hosts) {
            if (!host.compressed) {
                counts[layout_.plain + host.position] = host.references;
            }
        }
    }
    std::ranges::copy(plan_.compressed_references,
                      counts.begin() + static_cast<std::ptrdiff_t>(layout_.compressed));
    return counts;
}

std::vector<Snapshot> Builder::snapshots() const {
    std::vector<Snapshot> snapshots;
    for (std::uint32_t i = 0; i < options_.snapshots.size(); ++i) {
        snapshots.push_back({std::to_string(i + 1), options_.snapshots[i].name, disk_size_,
                             (layout_.snapshot_l1 + l1_clusters() * i) * cluster_bytes_,
                             static_cast<std::uint32_t>(l1_entries_), options_.snapshot_seconds + i,
                             options_.snapshot_nanoseconds});
    }
    return snapshots;
}

Header Builder::header() const {
    Header header;
    header.version = options_.version;
    header.cluster_bits = options_.cluster_bits;
    header.size = disk_size_;
    header.l1_entries = static_cast<std::uint32_t>(l1_entries_);
    header.l1_offset = layout_.l1 * cluster_bytes_;
    header.refcount_table_offset = layout_.refcount_table * cluster_bytes_;
    header.refcount_table_clusters =
        static_cast<std::uint32_t>(layout_.refcount_blocks - layout_.refcount_table);
    header.refcount_order = static_cast<unsigned>(std::countr_zero(options_.refcount_bits));
    header.snapshots = static_cast<std::uint32_t>(options_.snapshots.size());
    header.snapshots_offset =
        options_.snapshots.empty() ? 0 : layout_.snapshot_table * cluster_bytes_;
    header.compression = options_.compression;
    header.incompatible |= options_.compression == Compression::zlib ? 0 : incompatible_compression;
    header.incompatible |= options_.extended_l2 ? incompatible_extended_l2 : 0;
    header.incompatible |= options_.data_file.empty() ? 0 : incompatible_data_file;
    header.compatible = options_.lazy_refcounts ? compatible_lazy_refcounts : 0;
    header.autoclear |= options_.data_file_raw ? autoclear_raw_data : 0;
    header.data_file = options_.data_file;
    header.backing_name = options_.backing_name;
    header.backing_format = options_.backing_format;
    if (!options_.bitmaps.empty()) {
        header.autoclear |= autoclear_bitmaps;
        header.bitmaps = bitmaps_.directory(layout_.bitmaps * cluster_bytes_);
    }
    if (options_.encrypted != nullptr) {
        header.encryption = encryption_luks;
        header.encryption_header = {layout_.encryption * cluster_bytes_, encryption_bytes};
    }
    return header;
}

std::uint64_t Builder::plain_host_offset(const HostCluster& host) const {
    if (options_.data_file.empty()) {
        return (layout_.plain + host.position) * cluster_bytes_;
    }
    return host.cluster * cluster_bytes_;
}

std::uint64_t Builder::compressed_entry(const HostCluster& host) const {
    const std::uint64_t begin = layout_.compressed * cluster_bytes_ + host.position;
    const std::uint64_t last = begin + (host.bytes_end - host.bytes_begin) - 1;
    const std::uint64_t more_sectors = last / compressed_sector - begin / compressed_sector;
    return compressed_flag | more_sectors << compressed_count_shift(options_.cluster_bits) | begin;
}

std::array<std::uint64_t, 2> Builder::l2_entry(const Entry& entry, const Table& table) const {
    ClusterState state = entry.state;
    std::uint64_t first = 0;
    if (entry.host != no_host) {
        const HostCluster& host = plan_.hosts[entry.host];
        if (host.compressed) {
            return {compressed_entry(host), 0};
        }
        if (state.host == Host::compressed) {
            state = host.state;  // did not become smaller
        }
        // Clusters of a data file are not counted. Snapshots' tables never have the flag, as they
        // have not in what qemu-img makes.
        const bool copied = !options_.data_file.empty() || (table.active && host.references == 1);
        first = plain_host_offset(host) | (copied ? copied_flag : 0);
    }
    if (options_.extended_l2) {
        return {first, std::uint64_t{state.zeros} << subclusters | state.data};
    }
    return {first | (state.zeros != 0 ? zero_flag : 0), 0};
}

void Builder::write_refcounts(SparseWriter& out) const {
    std::array<std::byte, 8> entry;
    for (std::uint64_t block = layout_.refcount_blocks; block < layout_.l1; ++block) {
        store_be(entry.data(), block * cluster_bytes_);
        out.put(layout_.refcount_table * cluster_bytes_ + (block - layout_.refcount_blocks) * 8,
                entry);
    }
    out.put(layout_.refcount_blocks * cluster_bytes_,
            encode_refcounts(refcounts(), options_.refcount_bits));
}

void Builder::write_l1(std::size_t state, std::uint64_t offset, SparseWriter& out) const {
    std::array<std::byte, 8> entry;
    for (const std::size_t number : plan_.states[state]) {
        const Table& table = plan_.tables[number];
        const bool copied = table.active && table.references == 1;
        store_be(entry.data(), (layout_.l2 + number) * cluster_bytes_ | (copied ? copied_flag : 0));
        out.put(offset + table.l1_index * 8, entry);
    }
}

void Builder::write_l2(SparseWriter& out) const {
    std::array<std::byte, 16> bytes;
    std::uint64_t offset = layout_.l2 * cluster_bytes_;
    for (const Table& table : plan_.tables) {
        for (std::size_t i = table.begin; i < table.end; ++i) {
            const Entry& entry = plan_.entries[i];
            const auto words = l2_entry(entry, table);
            store_be(bytes.data(), words[0]);
            store_be(bytes.data() + 8, words[1]);
            out.put(offset + entry.cluster % l2_entries_ * l2_entry_bytes_,
                    std::span(bytes).first(l2_entry_bytes_));
        }
        offset += cluster_bytes_;
    }
}

void Builder::write_plain(SparseWriter& out) const {
    const luks::Bytes key =
        options_.encrypted == nullptr ? luks::Bytes{} : luks::master_key(*options_.encrypted);
    const ClusterShape shape{cluster_bytes_, options_.extended_l2 ? subclusters : 1,
                             !options_.data_file_raw, key};
    for (const HostCluster& host : plan_.hosts) {
        if (!host.compressed) {
            write_plain_cluster(host, *contents_[host.state.part], shape, plain_host_offset(host),
                                out);
        }
    }
}

void Builder::write_snapshots(SparseWriter& out) const {
    const std::vector<Snapshot> all = snapshots();
    for (std::size_t i = 0; i < all.size(); ++i) {
        write_l1(i, all[i].l1_offset, out);
    }
    out.put(layout_.snapshot_table * cluster_bytes_, encode_snapshots(all));
}

void Builder::write(const File& file, const File* data_file) const {
    SparseWriter out(file);
    out.put(0, encode_header(header()));
    write_refcounts(out);
    write_l1(options_.snapshots.size(), layout_.l1 * cluster_bytes_, out);
    write_l2(out);
    if (data_file == nullptr) {
        write_plain(out);
    }
    write_compressed_clusters(plan_, layout_.compressed * cluster_bytes_, out);
    write_snapshots(out);
    bitmaps_.write(layout_.bitmaps * cluster_bytes_, out);
    if (options_.encrypted != nullptr) {
        luks::write_header(*options_.encrypted, layout_.encryption * cluster_bytes_, out);
    }
    out.finish();
    file.resize(layout_.end * cluster_bytes_);
    if (data_file != nullptr) {
        SparseWriter data(*data_file);
        write_plain(data);
        data.finish();
        data_file->resize(disk_size_);
    }
}

}  // namespace

void build_image(const BuildOptions& options, std::span<const ContentSource* const> contents,
                 const std::vector<ContentWrite>& writes, const std::string& directory,
                 const std::string& name) {
    const Builder builder(options, contents, writes);
    std::optional<File> data_file;
    if (!options.data_file.empty()) {
        data_file = File::create(directory, options.data_file);
    }
    builder.write(File::create(directory, name), data_file ? &*data_file : nullptr);
}

}  // namespace difffuzz::qcow2

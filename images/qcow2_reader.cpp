#include "images/qcow2_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "images/bytes.hpp"
#include "images/file.hpp"
#include "images/format.hpp"
#include "images/image_error.hpp"
#include "images/metadata_cache.hpp"
#include "images/qcow2_compression.hpp"
#include "images/qcow2_header.hpp"
#include "images/recipe_rules.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz::qcow2 {
namespace {

enum class Kind { unallocated, zero, data, compressed };

// What lies at a guest offset, for `length` bytes from there on.
struct Mapping {
    Kind kind = Kind::unallocated;
    std::uint64_t length = 0;
    std::uint64_t host = 0;   // data: host offset of the first byte; compressed: of the stream
    std::uint64_t bytes = 0;  // compressed: bytes that the stream may take
};

// How many mappings extent() joins at most: keeps one call short on an image whose tables all lead
// to the same cluster.
constexpr int max_joined = 1024;

// Allocated clusters from this size on are searched for holes in the file: asking costs less than
// reading. What is found to be data is taken in pieces of this size.
constexpr std::uint64_t hole_search_bytes = 65536;

class Reader : public ContentSource {
public:
    Reader(File file, Header header, std::unique_ptr<ContentSource> backing)
        : file_(std::move(file)),
          header_(std::move(header)),
          backing_(std::move(backing)),
          cluster_bytes_(header_.cluster_bytes()),
          size_(header_.size / sector_bytes * sector_bytes),
          file_size_(file_.size()),
          tables_(file_) {}

    std::uint64_t size() const override { return size_; }
    ContentExtent extent(std::uint64_t offset) const override;
    void read(std::uint64_t offset, std::span<std::byte> bytes) const override;

private:
    Mapping map(std::uint64_t offset) const;
    Mapping map_entry(std::uint64_t entry, std::uint64_t offset) const;
    Mapping map_subclusters(std::uint64_t entry, std::uint64_t bitmap, std::uint64_t offset) const;
    std::uint64_t host_cluster(std::uint64_t entry, std::uint64_t offset) const;
    Mapping compressed(std::uint64_t entry, std::uint64_t offset) const;

    // The extent at `offset` as far as one mapping goes.
    ContentExtent simple_extent(std::uint64_t offset) const;
    void read_data(const Mapping& mapping, std::span<std::byte> bytes) const;
    void read_backing(std::uint64_t offset, std::span<std::byte> bytes) const;
    void read_compressed(const Mapping& mapping, std::uint64_t within,
                         std::span<std::byte> bytes) const;
    [[noreturn]] void fail(const std::string& what) const {
        throw ImageError(fmt::format("{}: {}", file_.name(), what));
    }

    // Not movable: `tables_` refers to `file_`.
    File file_;
    Header header_;
    std::unique_ptr<ContentSource> backing_;
    std::uint64_t cluster_bytes_;
    std::uint64_t size_;  // qemu-img cuts an odd size to whole sectors
    std::uint64_t file_size_;
    mutable MetadataCache tables_;
    // The compressed cluster that was read last.
    mutable std::optional<std::uint64_t> inflated_at_;
    mutable std::vector<std::byte> inflated_;
    mutable std::vector<std::byte> stream_;
};

std::uint64_t Reader::host_cluster(std::uint64_t entry, std::uint64_t offset) const {
    const std::uint64_t host = entry & offset_mask;
    if (host % cluster_bytes_ != 0) {
        fail(fmt::format("the cluster of guest offset {} lies unaligned at {}", offset, host));
    }
    return host;
}

Mapping Reader::compressed(std::uint64_t entry, std::uint64_t offset) const {
    const unsigned shift = compressed_count_shift(header_.cluster_bits);
    const std::uint64_t count_mask = (std::uint64_t{1} << (62 - shift)) - 1;
    const std::uint64_t host = entry & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t sectors = (entry >> shift & count_mask) + 1;
    return {Kind::compressed, cluster_bytes_ - offset % cluster_bytes_, host,
            sectors * compressed_sector - host % compressed_sector};
}

Mapping Reader::map_entry(std::uint64_t entry, std::uint64_t offset) const {
    const std::uint64_t within = offset % cluster_bytes_;
    const std::uint64_t length = cluster_bytes_ - within;
    if ((entry & zero_flag) != 0) {
        if (header_.version == 2) {
            fail(fmt::format("guest offset {} has the zero flag, which version 2 lacks", offset));
        }
        host_cluster(entry, offset);
        return {Kind::zero, length, 0, 0};
    }
    const std::uint64_t host = host_cluster(entry, offset);
    if (host == 0) {
        return {Kind::unallocated, length, 0, 0};
    }
    return {Kind::data, length, host + within, 0};
}

// The low half of the bitmap says which subclusters are allocated, the high half which read as
// zeros.
Mapping Reader::map_subclusters(std::uint64_t entry, std::uint64_t bitmap,
                                std::uint64_t offset) const {
    const std::uint64_t within = offset % cluster_bytes_;
    const std::uint64_t subcluster_bytes = cluster_bytes_ / subclusters;
    const std::uint64_t index = within / subcluster_bytes;
    const bool allocated = (bitmap >> index & 1U) != 0;
    const bool zero = (bitmap >> (index + subclusters) & 1U) != 0;
    const std::uint64_t host = host_cluster(entry, offset);
    if ((allocated && zero) || (allocated && host == 0)) {
        fail(fmt::format("the subcluster of guest offset {} is in an impossible state", offset));
    }
    const std::uint64_t length = subcluster_bytes - within % subcluster_bytes;
    if (zero) {
        return {Kind::zero, length, 0, 0};
    }
    if (!allocated) {
        return {Kind::unallocated, length, 0, 0};
    }
    return {Kind::data, length, host + within, 0};
}

Mapping Reader::map(std::uint64_t offset) const {
    const std::uint64_t covers = header_.l2_covers();
    const std::uint64_t l1_index = offset / covers;
    const std::uint64_t l1_at = header_.l1_offset + l1_index * 8;
    const std::uint64_t l2_table = tables_.entry(l1_at) & offset_mask;
    if (l2_table == 0) {
        const std::uint64_t missing = tables_.zero_entries(l1_at, 8, header_.l1_entries - l1_index);
        return {Kind::unallocated, std::max<std::uint64_t>(missing, 1) * covers - offset % covers,
                0, 0};
    }
    if (l2_table % cluster_bytes_ != 0) {
        fail(fmt::format("the L2 table of guest offset {} lies unaligned at {}", offset, l2_table));
    }
    const std::uint64_t index = offset / cluster_bytes_ % header_.l2_entries();
    const std::uint64_t at = l2_table + index * header_.l2_entry_bytes();
    const std::uint64_t entry = tables_.entry(at);
    if (const std::uint64_t missing =
            tables_.zero_entries(at, header_.l2_entry_bytes(), header_.l2_entries() - index);
        missing != 0) {
        return {Kind::unallocated, missing * cluster_bytes_ - offset % cluster_bytes_, 0, 0};
    }
    if ((entry & compressed_flag) != 0) {
        return compressed(entry, offset);
    }
    return header_.extended_l2() ? map_subclusters(entry, tables_.entry(at + 8), offset)
                                 : map_entry(entry, offset);
}

ContentExtent Reader::simple_extent(std::uint64_t offset) const {
    const Mapping mapping = map(offset);
    const std::uint64_t length = std::min(mapping.length, size_ - offset);
    if (mapping.kind == Kind::data && cluster_bytes_ >= hole_search_bytes &&
        mapping.host < file_size_) {
        const std::uint64_t data = file_.next_data(mapping.host);
        return data > mapping.host ? ContentExtent{std::min(length, data - mapping.host), true}
                                   : ContentExtent{std::min(length, hole_search_bytes), false};
    }
    if (mapping.kind != Kind::unallocated) {
        return {length, mapping.kind == Kind::zero};
    }
    if (backing_ == nullptr || offset >= backing_->size()) {
        return {length, true};
    }
    const ContentExtent below = backing_->extent(offset);
    return {std::min(length, below.length), below.zero};
}

ContentExtent Reader::extent(std::uint64_t offset) const {
    ContentExtent extent = simple_extent(offset);
    for (int joined = 1; joined < max_joined && extent.length < size_ - offset; ++joined) {
        const ContentExtent next = simple_extent(offset + extent.length);
        if (next.zero != extent.zero) {
            break;
        }
        extent.length += next.length;
    }
    return extent;
}

void Reader::read(std::uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        Mapping mapping = map(offset);
        // Clusters that follow one another in the file are read at once.
        while (mapping.kind == Kind::data && mapping.length < bytes.size()) {
            const Mapping next = map(offset + mapping.length);
            if (next.kind != Kind::data || next.host != mapping.host + mapping.length) {
                break;
            }
            mapping.length += next.length;
        }
        const std::size_t length = std::min<std::uint64_t>(mapping.length, bytes.size());
        const auto part = bytes.first(length);
        switch (mapping.kind) {
            case Kind::unallocated:
                read_backing(offset, part);
                break;
            case Kind::zero:
                std::ranges::fill(part, std::byte{0});
                break;
            case Kind::data:
                read_data(mapping, part);
                break;
            case Kind::compressed:
                read_compressed(mapping, offset % cluster_bytes_, part);
                break;
        }
        offset += length;
        bytes = bytes.subspan(length);
    }
}

void Reader::read_data(const Mapping& mapping, std::span<std::byte> bytes) const {
    const std::size_t got = file_.read_at(mapping.host, bytes);
    std::ranges::fill(bytes.subspan(got), std::byte{0});
}

void Reader::read_backing(std::uint64_t offset, std::span<std::byte> bytes) const {
    const std::uint64_t below = backing_ == nullptr ? 0 : backing_->size();
    const std::uint64_t end = std::clamp<std::uint64_t>(below, offset, offset + bytes.size());
    const auto head = bytes.first(static_cast<std::size_t>(end - offset));
    if (!head.empty()) {
        backing_->read(offset, head);
    }
    std::ranges::fill(bytes.subspan(head.size()), std::byte{0});
}

void Reader::read_compressed(const Mapping& mapping, std::uint64_t within,
                             std::span<std::byte> bytes) const {
    if (inflated_at_ != mapping.host) {
        inflated_at_.reset();
        inflated_.resize(cluster_bytes_);
        stream_.resize(mapping.bytes);
        const std::size_t got = file_.read_at(mapping.host, stream_);
        if (!decompress(header_.compression, std::span(stream_).first(got), inflated_)) {
            fail(fmt::format("the compressed cluster at {} cannot be read", mapping.host));
        }
        inflated_at_ = mapping.host;
    }
    std::ranges::copy(std::span(inflated_).subspan(within, bytes.size()), bytes.begin());
}

// Everything in the header that this reader cannot serve, or that qemu-img refuses.
void require_readable(const File& file, const Header& header) {
    const auto fail = [&](const std::string& what) {
        throw ImageError(fmt::format("{}: {}", file.name(), what));
    };
    const std::uint64_t known = incompatible_dirty | incompatible_corrupt |
                                incompatible_compression | incompatible_extended_l2;
    if (header.encryption != 0) {
        fail("the image is encrypted, which cannot be read in-process");
    }
    if ((header.incompatible & incompatible_data_file) != 0) {
        fail("the image keeps its data in another file, which cannot be read in-process");
    }
    if ((header.incompatible & ~known) != 0) {
        fail(fmt::format("unknown incompatible features {:#x}", header.incompatible & ~known));
    }
    if (((header.incompatible & incompatible_compression) != 0) !=
        (header.compression != Compression::zlib)) {
        fail("the compression type and its feature bit contradict one another");
    }
    if (header.extended_l2() && header.cluster_bytes() < subclusters * sector_bytes) {
        fail("extended L2 entries with clusters that are too small");
    }
    const std::uint64_t needed = divide_up(header.size, header.l2_covers());
    if (std::uint64_t{header.l1_entries} * 8 > max_l1_bytes || needed > header.l1_entries) {
        fail(fmt::format("an L1 table of {} entries for {} bytes", header.l1_entries, header.size));
    }
    if (header.l1_offset % header.cluster_bytes() != 0 || header.l1_offset > file.size()) {
        fail(fmt::format("an L1 table at {}", header.l1_offset));
    }
}

std::unique_ptr<ContentSource> open_in_chain(const std::string& directory, const std::string& name,
                                             unsigned depth) {
    File file = File::open(directory, name);
    Header header = read_header(file);
    require_readable(file, header);
    if (header.backing_name.empty()) {
        return std::make_unique<Reader>(std::move(file), std::move(header), nullptr);
    }
    const Format* format = find_format(header.backing_format);
    if (!stays_inside({"backing", header.backing_name})) {
        throw ImageError(
            fmt::format("{}: its backing file is not a plain name in the same directory", name));
    }
    if (format == nullptr || format->open == nullptr) {
        throw ImageError(fmt::format("{}: its backing file has {}", name,
                                     header.backing_format.empty()
                                         ? "no recorded format"
                                         : "a recorded format that cannot be read in-process"));
    }
    if (depth >= max_chain) {
        throw ImageError(
            fmt::format("{}: more than {} images in one chain, or a loop", name, max_chain));
    }
    auto backing = header.backing_format == "qcow2"
                       ? open_in_chain(directory, header.backing_name, depth + 1)
                       : format->open(directory, header.backing_name);
    return std::make_unique<Reader>(std::move(file), std::move(header), std::move(backing));
}

}  // namespace

std::unique_ptr<ContentSource> open_image(const std::string& directory, const std::string& name) {
    return open_in_chain(directory, name, 1);
}

}  // namespace difffuzz::qcow2

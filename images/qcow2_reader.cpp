#include "images/qcow2_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "images/file.hpp"
#include "images/format.hpp"
#include "images/image_error.hpp"
#include "images/luks_volume.hpp"
#include "images/qcow2_compression.hpp"
#include "images/qcow2_header.hpp"
#include "images/qcow2_mapping.hpp"
#include "images/qcow2_snapshots.hpp"
#include "images/recipe_rules.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz::qcow2 {
namespace {

// How many mappings extent() joins at most: keeps one call short on an image whose tables all lead
// to the same cluster.
constexpr int max_joined = 1024;

// Allocated clusters from this size on are searched for holes in the file: asking costs less than
// reading. What is found to be data is taken in pieces of this size.
constexpr std::uint64_t hole_search_bytes = 65536;

class Reader : public ContentSource {
public:
    // `data_file` where the header names one; `key` where the clusters are encrypted.
    Reader(File file, Header header, std::optional<File> data_file,
           std::unique_ptr<ContentSource> backing, luks::Bytes key)
        : file_(std::move(file)),
          data_file_(std::move(data_file)),
          header_(std::move(header)),
          backing_(std::move(backing)),
          key_(std::move(key)),
          cluster_bytes_(header_.cluster_bytes()),
          size_(header_.size / sector_bytes * sector_bytes),
          data_bytes_(data_source().size()),
          mapper_(file_, header_) {}

    std::uint64_t size() const override { return size_; }
    ContentExtent extent(std::uint64_t offset) const override;
    void read(std::uint64_t offset, std::span<std::byte> bytes) const override;

private:
    const File& data_source() const { return data_file_ ? *data_file_ : file_; }
    // The extent at `offset` as far as one mapping goes.
    ContentExtent simple_extent(std::uint64_t offset) const;
    void read_data(const Mapping& mapping, std::span<std::byte> bytes) const;
    void read_backing(std::uint64_t offset, std::span<std::byte> bytes) const;
    void read_compressed(const Mapping& mapping, std::uint64_t within,
                         std::span<std::byte> bytes) const;

    // Not movable: `mapper_` refers to the first and the third.
    File file_;
    std::optional<File> data_file_;
    Header header_;
    std::unique_ptr<ContentSource> backing_;
    luks::Bytes key_;
    std::uint64_t cluster_bytes_;
    std::uint64_t size_;  // qemu-img cuts an odd size to whole sectors
    std::uint64_t data_bytes_;
    mutable Mapper mapper_;
    // The compressed cluster that was read last.
    mutable std::optional<std::uint64_t> inflated_at_;
    mutable std::vector<std::byte> inflated_;
    mutable std::vector<std::byte> stream_;
};

ContentExtent Reader::simple_extent(std::uint64_t offset) const {
    const Mapping mapping = mapper_.map(offset);
    const std::uint64_t length = std::min(mapping.length, size_ - offset);
    if (mapping.kind == Mapping::Kind::data && cluster_bytes_ >= hole_search_bytes &&
        mapping.host < data_bytes_ && key_.empty()) {
        const std::uint64_t data = data_source().next_data(mapping.host);
        return data > mapping.host ? ContentExtent{std::min(length, data - mapping.host), true}
                                   : ContentExtent{std::min(length, hole_search_bytes), false};
    }
    if (mapping.kind != Mapping::Kind::unallocated) {
        return {length, mapping.kind == Mapping::Kind::zero};
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
        Mapping mapping = mapper_.map(offset);
        // Clusters that follow one another in the file are read at once.
        while (mapping.kind == Mapping::Kind::data && mapping.length < bytes.size()) {
            const Mapping next = mapper_.map(offset + mapping.length);
            if (next.kind != Mapping::Kind::data || next.host != mapping.host + mapping.length) {
                break;
            }
            mapping.length += next.length;
        }
        const std::size_t length = std::min<std::uint64_t>(mapping.length, bytes.size());
        const auto part = bytes.first(length);
        switch (mapping.kind) {
            case Mapping::Kind::unallocated:
                read_backing(offset, part);
                break;
            case Mapping::Kind::zero:
                std::ranges::fill(part, std::byte{0});
                break;
            case Mapping::Kind::data:
                read_data(mapping, part);
                break;
            case Mapping::Kind::compressed:
                read_compressed(mapping, offset % cluster_bytes_, part);
                break;
        }
        offset += length;
        bytes = bytes.subspan(length);
    }
}

void Reader::read_data(const Mapping& mapping, std::span<std::byte> bytes) const {
    if (!key_.empty()) {
        luks::read_decrypted(data_source(), key_, 0, mapping.host, bytes);
        return;
    }
    const std::size_t got = data_source().read_at(mapping.host, bytes);
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
            throw ImageError(fmt::format("{}: the compressed cluster at {} cannot be read",
                                         file_.name(), mapping.host));
        }
        inflated_at_ = mapping.host;
    }
    std::ranges::copy(std::span(inflated_).subspan(within, bytes.size()), bytes.begin());
}

std::unique_ptr<ContentSource> open_in_chain(const std::string& directory, const std::string& name,
                                             unsigned depth);

std::optional<File> open_data_file(const std::string& directory, const Header& header) {
    if (!header.has_data_file()) {
        return std::nullopt;
    }
    if (!stays_inside({"data-file", header.data_file})) {
        throw ImageError("an image's data file is not a plain name in the same directory");
    }
    return File::open(directory, header.data_file);
}

// `depth` is the image's own place in the chain.
std::unique_ptr<ContentSource> open_backing(const std::string& directory, const File& file,
                                            const Header& header, unsigned depth) {
    if (header.backing_name.empty()) {
        return nullptr;
    }
    const auto fail = [&](const std::string& what) {
        throw ImageError(fmt::format("{}: {}", file.name(), what));
    };
    if (!stays_inside({"backing", header.backing_name})) {
        fail("its backing file is not a plain name in the same directory");
    }
    const Format* format = find_format(header.backing_format);
    if (format == nullptr || format->open == nullptr) {
        fail(header.backing_format.empty()
                 ? "its backing file has no recorded format"
                 : "its backing file has a recorded format that cannot be read in-process");
    }
    if (depth >= max_chain) {
        fail(fmt::format("more than {} images in one chain, or a loop", max_chain));
    }
    return header.backing_format == "qcow2"
               ? open_in_chain(directory, header.backing_name, depth + 1)
               : format->open(directory, header.backing_name);
}

std::unique_ptr<ContentSource> open_with(const std::string& directory, File file, Header header,
                                         unsigned depth) {
    require_readable(file, header);
    auto backing = open_backing(directory, file, header, depth);
    auto data_file = open_data_file(directory, header);
    luks::Bytes key = header.encryption == 0
                          ? luks::Bytes{}
                          : luks::open_header(file, header.encryption_header->offset).key;
    return std::make_unique<Reader>(std::move(file), std::move(header), std::move(data_file),
                                    std::move(backing), std::move(key));
}

std::unique_ptr<ContentSource> open_in_chain(const std::string& directory, const std::string& name,
                                             unsigned depth) {
    File file = File::open(directory, name);
    Header header = read_header(file);
    return open_with(directory, std::move(file), std::move(header), depth);
}

}  // namespace

std::unique_ptr<ContentSource> open_image(const std::string& directory, const std::string& name) {
    return open_in_chain(directory, name, 1);
}

std::unique_ptr<ContentSource> open_snapshot(const std::string& directory, const std::string& name,
                                             const std::string& snapshot_id) {
    File file = File::open(directory, name);
    Header header = read_header(file);
    const std::vector<Snapshot> snapshots = read_snapshots(file, header);
    const auto snapshot = std::ranges::find(snapshots, snapshot_id, &Snapshot::id);
    if (snapshot == snapshots.end()) {
        throw ImageError(fmt::format("{}: it has no snapshot of this id", file.name()));
    }
    // A snapshot is the image with another L1 table.
    header.size = snapshot->size;
    header.l1_offset = snapshot->l1_offset;
    header.l1_entries = snapshot->l1_entries;
    return open_with(directory, std::move(file), std::move(header), 1);
}

}  // namespace difffuzz::qcow2

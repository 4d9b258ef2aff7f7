#include "images/qcow2_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <span>
#include <string_view>

#include "images/bytes.hpp"
#include "images/image_error.hpp"

namespace difffuzz::qcow2 {
namespace {

struct Feature {
    std::uint8_t kind;  // 0 incompatible, 1 compatible, 2 autoclear
    std::uint8_t bit;
    std::string_view name;
};

constexpr std::array<Feature, 8> features{{{0, 0, "dirty bit"},
                                           {0, 1, "corrupt bit"},
                                           {0, 2, "external data file"},
                                           {0, 3, "compression type"},
                                           {0, 4, "extended L2 entries"},
                                           {1, 0, "lazy refcounts"},
                                           {2, 0, "bitmaps"},
                                           {2, 1, "raw external data"}}};
constexpr std::size_t feature_bytes = 48;
constexpr std::size_t extension_head_bytes = 8;
// Number of bitmaps, reserved, bytes and offset of their directory.
constexpr std::size_t bitmaps_extension_bytes = 24;
constexpr std::size_t encryption_extension_bytes = 16;

[[noreturn]] void fail(const File& file, const std::string& what) {
    throw ImageError(fmt::format("{}: not a qcow2 image that can be read: {}", file.name(), what));
}

std::string text_of(std::span<const std::byte> bytes) {
    std::string text(bytes.size(), '\0');
    std::ranges::transform(bytes, text.begin(),
                           [](std::byte b) { return std::to_integer<char>(b); });
    return text;
}

std::string read_text(const File& file, std::uint64_t offset, std::uint32_t length) {
    std::array<std::byte, max_backing_name> buffer;
    if (length > buffer.size()) {
        fail(file, fmt::format("a name of {} bytes", length));
    }
    const auto bytes = std::span(buffer).first(length);
    if (file.read_at(offset, bytes) != length) {
        fail(file, "a name lies past the end of the file");
    }
    return text_of(bytes);
}

BitmapDirectory read_bitmap_directory(const File& file, std::uint64_t at, std::uint32_t length) {
    std::array<std::byte, bitmaps_extension_bytes> bytes;
    if (length != bytes.size() || file.read_at(at, bytes) != bytes.size()) {
        fail(file, fmt::format("a bitmaps extension of {} bytes", length));
    }
    return {load_be<std::uint32_t>(bytes.data()), load_be<std::uint64_t>(bytes.data() + 16),
            load_be<std::uint64_t>(bytes.data() + 8)};
}

EncryptionHeader read_encryption_header(const File& file, std::uint64_t at, std::uint32_t length) {
    std::array<std::byte, encryption_extension_bytes> bytes;
    if (length != bytes.size() || file.read_at(at, bytes) != bytes.size()) {
        fail(file, fmt::format("an encryption extension of {} bytes", length));
    }
    return {load_be<std::uint64_t>(bytes.data()), load_be<std::uint64_t>(bytes.data() + 8)};
}

// Header extensions lie in [begin, end).
void read_extensions(const File& file, std::uint64_t begin, std::uint64_t end, Header& header) {
    std::array<std::byte, extension_head_bytes> head;
    for (std::uint64_t at = begin; at + head.size() <= end;) {
        if (file.read_at(at, head) != head.size()) {
            fail(file, "a header extension lies past the end of the file");
        }
        const auto type = load_be<std::uint32_t>(head.data());
        const auto length = load_be<std::uint32_t>(head.data() + 4);
        at += head.size();
        if (type == extension_end) {
            return;
        }
        if (length > end - at) {
            fail(file, "a header extension is larger than its area");
        }
        if (type == extension_backing_format) {
            header.backing_format = read_text(file, at, length);
        } else if (type == extension_data_file) {
            header.data_file = read_text(file, at, length);
        } else if (type == extension_bitmaps) {
            header.bitmaps = read_bitmap_directory(file, at, length);
        } else if (type == extension_encryption) {
            header.encryption_header = read_encryption_header(file, at, length);
        }
        at += round_up(length, 8);
    }
}

void append_extension(std::vector<std::byte>& bytes, std::uint32_t type,
                      std::span<const std::byte> data) {
    const std::size_t at = bytes.size();
    bytes.resize(at + extension_head_bytes + round_up(data.size(), 8));
    store_be(bytes.data() + at, type);
    store_be(bytes.data() + at + 4, static_cast<std::uint32_t>(data.size()));
    std::ranges::copy(data, bytes.begin() + static_cast<std::ptrdiff_t>(at + extension_head_bytes));
}

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

std::vector<std::byte> encode_bitmap_directory(const BitmapDirectory& directory) {
    std::vector<std::byte> bytes(bitmaps_extension_bytes);
    store_be(bytes.data(), directory.bitmaps);
    store_be(bytes.data() + 8, directory.bytes);
    store_be(bytes.data() + 16, directory.offset);
    return bytes;
}

std::vector<std::byte> encode_encryption_header(const EncryptionHeader& header) {
    std::vector<std::byte> bytes(encryption_extension_bytes);
    store_be(bytes.data(), header.offset);
    store_be(bytes.data() + 8, header.bytes);
    return bytes;
}

std::vector<std::byte> encode_members(const Header& header) {
    std::vector<std::byte> bytes(header.version == 2 ? v2_header_bytes : v3_header_bytes);
    std::byte* const start = bytes.data();
    store_be(start, magic);
    store_be(start + at_version, header.version);
    store_be(start + at_cluster_bits, static_cast<std::uint32_t>(header.cluster_bits));
    store_be(start + at_size, header.size);
    store_be(start + at_encryption, header.encryption);
    store_be(start + at_l1_entries, header.l1_entries);
    store_be(start + at_l1_offset, header.l1_offset);
    store_be(start + at_refcount_table_offset, header.refcount_table_offset);
    store_be(start + at_refcount_table_clusters, header.refcount_table_clusters);
    store_be(start + at_snapshots, header.snapshots);
    store_be(start + at_snapshots_offset, header.snapshots_offset);
    if (header.version == 2) {
        return bytes;
    }
    store_be(start + at_incompatible, header.incompatible);
    store_be(start + at_compatible, header.compatible);
    store_be(start + at_autoclear, header.autoclear);
    store_be(start + at_refcount_order, static_cast<std::uint32_t>(header.refcount_order));
    store_be(start + at_header_length, static_cast<std::uint32_t>(v3_header_bytes));
    store_be(start + at_compression_type, static_cast<std::uint8_t>(header.compression));
    return bytes;
}

std::vector<std::byte> feature_table() {
    std::vector<std::byte> table(features.size() * feature_bytes);
    for (std::size_t i = 0; i < features.size(); ++i) {
        std::byte* row = table.data() + i * feature_bytes;
        row[0] = std::byte{features[i].kind};
        row[1] = std::byte{features[i].bit};
        std::memcpy(row + 2, features[i].name.data(), features[i].name.size());
    }
    return table;
}

}  // namespace

Header read_header(const File& file, Header* found) {
    Header local;
    Header& header = found == nullptr ? local : *found;
    std::array<std::byte, v3_header_bytes> bytes{};
    const std::size_t got = file.read_at(0, bytes);
    const std::byte* const start = bytes.data();
    if (got < v2_header_bytes || load_be<std::uint32_t>(start) != magic) {
        fail(file, "no qcow2 header");
    }
    header.version = load_be<std::uint32_t>(start + at_version);
    if (header.version != 2 && header.version != 3) {
        fail(file, fmt::format("version {}", header.version));
    }
    header.cluster_bits = load_be<std::uint32_t>(start + at_cluster_bits);
    if (header.cluster_bits < min_cluster_bits || header.cluster_bits > max_cluster_bits) {
        fail(file, fmt::format("clusters of 2^{} bytes", header.cluster_bits));
    }
    header.size = load_be<std::uint64_t>(start + at_size);
    header.encryption = load_be<std::uint32_t>(start + at_encryption);
    header.l1_entries = load_be<std::uint32_t>(start + at_l1_entries);
    header.l1_offset = load_be<std::uint64_t>(start + at_l1_offset);
    header.refcount_table_offset = load_be<std::uint64_t>(start + at_refcount_table_offset);
    header.refcount_table_clusters = load_be<std::uint32_t>(start + at_refcount_table_clusters);
    header.snapshots = load_be<std::uint32_t>(start + at_snapshots);
    header.snapshots_offset = load_be<std::uint64_t>(start + at_snapshots_offset);

    // Names first: who looks for references wants them even if the rest is broken.
    const auto backing_offset = load_be<std::uint64_t>(start + at_backing_offset);
    if (backing_offset != 0) {
        header.backing_name =
            read_text(file, backing_offset, load_be<std::uint32_t>(start + at_backing_length));
    }
    std::uint64_t header_length = v2_header_bytes;
    if (header.version == 3) {
        header_length = load_be<std::uint32_t>(start + at_header_length);
        if (got < v3_min_header_bytes || header_length < v3_min_header_bytes ||
            header_length > header.cluster_bytes()) {
            fail(file, fmt::format("a header of {} bytes", header_length));
        }
        header.incompatible = load_be<std::uint64_t>(start + at_incompatible);
        header.compatible = load_be<std::uint64_t>(start + at_compatible);
        header.autoclear = load_be<std::uint64_t>(start + at_autoclear);
        header.refcount_order = load_be<std::uint32_t>(start + at_refcount_order);
        if (header_length > at_compression_type) {
            const auto type = load_be<std::uint8_t>(start + at_compression_type);
            if (type > static_cast<std::uint8_t>(Compression::zstd)) {
                fail(file, fmt::format("compression type {}", type));
            }
            header.compression = static_cast<Compression>(type);
        }
    }
    const std::uint64_t area_end = backing_offset != 0
                                       ? std::min(backing_offset, header.cluster_bytes())
                                       : header.cluster_bytes();
    // An area that the file's end cuts off holds no more extensions.
    read_extensions(file, header_length, std::min(area_end, file.size()), header);
    return header;
}

std::vector<std::byte> encode_header(const Header& header) {
    std::vector<std::byte> bytes = encode_members(header);
    if (!header.backing_format.empty()) {
        append_extension(bytes, extension_backing_format, bytes_of(header.backing_format));
    }
    if (!header.data_file.empty()) {
        append_extension(bytes, extension_data_file, bytes_of(header.data_file));
    }
    if (header.encryption_header) {
        append_extension(bytes, extension_encryption,
                         encode_encryption_header(*header.encryption_header));
    }
    std::size_t rest = extension_head_bytes + header.backing_name.size();
    rest += header.bitmaps ? extension_head_bytes + bitmaps_extension_bytes : 0;
    const std::vector<std::byte> names = feature_table();
    if (header.version == 3 &&
        bytes.size() + extension_head_bytes + names.size() + rest <= header.cluster_bytes()) {
        append_extension(bytes, extension_feature_names, names);
    }
    if (header.bitmaps) {
        append_extension(bytes, extension_bitmaps, encode_bitmap_directory(*header.bitmaps));
    }
    append_extension(bytes, extension_end, {});
    if (!header.backing_name.empty()) {
        const auto name = bytes_of(header.backing_name);
        store_be(bytes.data() + at_backing_offset, std::uint64_t{bytes.size()});
        store_be(bytes.data() + at_backing_length, static_cast<std::uint32_t>(name.size()));
        bytes.insert(bytes.end(), name.begin(), name.end());
    }
    assert(bytes.size() <= header.cluster_bytes());
    return bytes;
}

}  // namespace difffuzz::qcow2

#include "images/qcow2_snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "images/bytes.hpp"
#include "images/image_error.hpp"

namespace difffuzz::qcow2 {
namespace {

constexpr std::uint32_t max_snapshots = 65536;
constexpr std::uint64_t max_table_bytes = std::uint64_t{64} << 20;
constexpr std::uint32_t max_extra_bytes = 1024;

// Byte offsets in an entry of the table; extra data, id and name follow, padded to 8 bytes.
constexpr std::size_t at_l1 = 0;
constexpr std::size_t at_entries = 8;
constexpr std::size_t at_id_length = 12;
constexpr std::size_t at_name_length = 14;
constexpr std::size_t at_seconds = 16;
constexpr std::size_t at_nanoseconds = 20;
constexpr std::size_t at_extra_length = 36;
constexpr std::size_t head_bytes = 40;
// In the extra data.
constexpr std::size_t at_disk_size = 8;
constexpr std::size_t at_icount = 16;
constexpr std::size_t extra_bytes = 24;

[[noreturn]] void fail(const File& file, const std::string& what) {
    throw ImageError(fmt::format("{}: its snapshot table cannot be read: {}", file.name(), what));
}

void read_exactly(const File& file, std::uint64_t offset, std::span<std::byte> bytes) {
    if (file.read_at(offset, bytes) != bytes.size()) {
        fail(file, "it reaches past the end of the file");
    }
}

std::string read_text(const File& file, std::uint64_t offset, std::size_t length) {
    std::string text(length, '\0');
    read_exactly(file, offset, std::as_writable_bytes(std::span(text)));
    return text;
}

}  // namespace

std::vector<std::byte> encode_snapshots(std::span<const Snapshot> snapshots) {
    std::vector<std::byte> bytes;
    for (const Snapshot& snapshot : snapshots) {
        const std::size_t start = bytes.size();
        const std::string text = snapshot.id + snapshot.name;
        bytes.resize(round_up(start + head_bytes + extra_bytes + text.size(), 8));
        std::byte* const head = bytes.data() + start;
        store_be(head + at_l1, snapshot.l1_offset);
        store_be(head + at_entries, snapshot.l1_entries);
        store_be(head + at_id_length, static_cast<std::uint16_t>(snapshot.id.size()));
        store_be(head + at_name_length, static_cast<std::uint16_t>(snapshot.name.size()));
        store_be(head + at_seconds, snapshot.seconds);
        store_be(head + at_nanoseconds, snapshot.nanoseconds);
        store_be(head + at_extra_length, static_cast<std::uint32_t>(extra_bytes));
        store_be(head + head_bytes + at_disk_size, snapshot.size);
        store_be(head + head_bytes + at_icount, ~std::uint64_t{0});
        std::ranges::copy(std::as_bytes(std::span(text)), head + head_bytes + extra_bytes);
    }
    return bytes;
}

std::vector<Snapshot> read_snapshots(const File& file, const Header& header) {
    if (header.snapshots > max_snapshots) {
        fail(file, fmt::format("{} snapshots", header.snapshots));
    }
    if (header.snapshots != 0 && header.snapshots_offset % header.cluster_bytes() != 0) {
        fail(file, fmt::format("it lies unaligned at {}", header.snapshots_offset));
    }
    std::vector<Snapshot> snapshots;
    std::uint64_t table_bytes = 0;
    for (std::uint32_t i = 0; i < header.snapshots; ++i) {
        std::array<std::byte, head_bytes + extra_bytes> bytes{};
        const std::byte* const head = bytes.data();
        const std::uint64_t offset = header.snapshots_offset + table_bytes;
        read_exactly(file, offset, std::span(bytes).first(head_bytes));
        const auto extra = load_be<std::uint32_t>(head + at_extra_length);
        if (extra > max_extra_bytes) {
            fail(file, fmt::format("{} bytes of extra data", extra));
        }
        read_exactly(
            file, offset + head_bytes,
            std::span(bytes).subspan(head_bytes, std::min<std::size_t>(extra, extra_bytes)));
        const auto id_length = load_be<std::uint16_t>(head + at_id_length);
        const auto name_length = load_be<std::uint16_t>(head + at_name_length);
        const std::uint64_t text_at = head_bytes + extra;
        table_bytes += round_up(text_at + id_length + name_length, 8);
        if (table_bytes > max_table_bytes) {
            fail(file, fmt::format("more than {} bytes", max_table_bytes));
        }
        Snapshot snapshot;
        snapshot.id = read_text(file, offset + text_at, id_length);
        snapshot.name = read_text(file, offset + text_at + id_length, name_length);
        snapshot.size = extra >= at_icount
                            ? load_be<std::uint64_t>(head + head_bytes + at_disk_size)
                            : header.size;
        snapshot.l1_offset = load_be<std::uint64_t>(head + at_l1);
        snapshot.l1_entries = load_be<std::uint32_t>(head + at_entries);
        snapshot.seconds = load_be<std::uint32_t>(head + at_seconds);
        snapshot.nanoseconds = load_be<std::uint32_t>(head + at_nanoseconds);
        snapshots.push_back(std::move(snapshot));
    }
    return snapshots;
}

std::vector<Snapshot> list_snapshots(const std::string& directory, const std::string& name) {
    const File file = File::open(directory, name);
    return read_snapshots(file, read_header(file));
}

}  // namespace difffuzz::qcow2

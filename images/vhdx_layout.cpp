#include "images/vhdx_layout.hpp"

#include <algorithm>
#include <array>
#include <boost/crc.hpp>

#include "images/bytes.hpp"

namespace difffuzz::vhdx {
namespace {

constexpr std::size_t entry_bytes = 32;
constexpr std::size_t max_entries = 2047;  // of either table

// An entry: GUID, then the fields at 16.
using Entry = std::array<std::byte, entry_bytes>;

// The entry of `guid` in a table: `count` entries, from `offset` on.
std::optional<Entry> find_entry(const File& file, std::uint64_t offset, std::uint64_t count,
                                const Uuid& guid) {
    Entry entry{};
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, max_entries); ++i) {
        if (file.read_at(offset + i * entry_bytes, entry) != entry_bytes) {
            break;
        }
        if (std::ranges::equal(std::span(entry).first(guid.size()), guid)) {
            return entry;
        }
    }
    return std::nullopt;
}

bool starts_with(std::span<const std::byte> bytes, std::string_view text) {
    return std::ranges::equal(bytes.first(text.size()), std::as_bytes(std::span(text)));
}

}  // namespace

void put_checksum(std::span<std::byte> bytes) {
    store_le(bytes.data() + at_checksum, std::uint32_t{0});
    boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> crc32c;
    crc32c.process_bytes(bytes.data(), bytes.size());
    store_le(bytes.data() + at_checksum, static_cast<std::uint32_t>(crc32c.checksum()));
}

std::vector<Area> find_regions(const File& file, const Uuid& region) {
    constexpr std::size_t at_count = 8;
    constexpr std::size_t at_entries = 16;
    std::vector<Area> areas;
    for (const std::uint64_t table : region_table_offsets) {
        std::array<std::byte, at_entries> head{};
        file.read_at(table, head);
        if (!starts_with(head, "regi")) {
            continue;
        }
        const auto entry = find_entry(file, table + at_entries,
                                      load_le<std::uint32_t>(head.data() + at_count), region);
        if (!entry) {
            continue;
        }
        const Area area{load_le<std::uint64_t>(entry->data() + 16),
                        load_le<std::uint32_t>(entry->data() + 24)};
        if (area.offset < file.size() && (areas.empty() || areas[0].offset != area.offset)) {
            areas.push_back(area);
        }
    }
    return areas;
}

std::optional<Area> find_item(const File& file, const Area& metadata, const Uuid& item) {
    constexpr std::size_t at_count = 10;
    constexpr std::size_t at_entries = 32;
    std::array<std::byte, at_entries> head{};
    file.read_at(metadata.offset, head);
    if (!starts_with(head, "metadata")) {
        return std::nullopt;
    }
    const auto entry = find_entry(file, metadata.offset + at_entries,
                                  load_le<std::uint16_t>(head.data() + at_count), item);
    if (!entry) {
        return std::nullopt;
    }
    return Area{metadata.offset + load_le<std::uint32_t>(entry->data() + 16),
                load_le<std::uint32_t>(entry->data() + 20)};
}

}  // namespace difffuzz::vhdx

// Offsets as in "VHDX Format Specification 1.00" (Microsoft).
#include <algorithm>
#include <array>

#include "images/damage_places.hpp"
#include "images/damage_tables.hpp"
#include "images/vhdx_layout.hpp"

namespace difffuzz {
namespace {

using namespace vhdx;

constexpr std::uint64_t sector = 4096;

// The header that counts, then the other one.
std::array<std::uint64_t, 2> headers(const File& file) {
    const auto sequence = [&](std::uint64_t at) {
        return little_at<std::uint64_t>(file, at + at_sequence);
    };
    const auto [first, second] = header_offsets;
    return sequence(first) > sequence(second) ? std::array{first, second}
                                              : std::array{second, first};
}
template <std::uint64_t within>
Places header_field(const File& file) {
    const auto both = headers(file);
    return {both[0] + within, both[1] + within};
}

template <std::uint64_t within>
Places regions_field(const File&) {
    return {region_table_offsets[0] + within, region_table_offsets[1] + within};
}
// Of the entries of the first table, which is the one that tools read.
template <std::uint64_t within>
Places region_field(const File& file) {
    Places places;
    add_array(places, region_table_offsets[0] + 16 + within,
              little_at<std::uint32_t>(file, region_table_offsets[0] + 8), 32);
    return places;
}

std::uint64_t start_of(const File& file, const Uuid& region) {
    const auto areas = find_regions(file, region);
    return areas.empty() ? 0 : areas[0].offset;
}

template <std::uint64_t within>
Places metadata_field(const File& file) {
    return {start_of(file, metadata_region) + within};
}
template <std::uint64_t within>
Places item_entries(const File& file) {
    const std::uint64_t table = start_of(file, metadata_region);
    Places places;
    add_array(places, table + 32 + within, little_at<std::uint16_t>(file, table + 10), 32);
    return places;
}
template <const Uuid& id, std::uint64_t within>
Places item_field(const File& file) {
    for (const Area& region : find_regions(file, metadata_region)) {
        if (const auto item = find_item(file, region, id)) {
            return {item->offset + within};
        }
    }
    return {};
}

// As many as fit into the region's first sector, which holds those of 512 blocks.
Places table_entries(const File& file) {
    Places entries;
    add_array(entries, start_of(file, table_region), sector / 8, 8);
    return used_first(entries,
                      [&](std::uint64_t at) { return little_at<std::uint64_t>(file, at) != 0; });
}

// The log's only entry: a header, a descriptor of a sector of data, one of zeros, and the data.
constexpr std::uint64_t log_entry_bytes = 2 * sector;
constexpr std::uint64_t at_entry_length = 8;
constexpr std::uint64_t at_data_descriptor = 64;
constexpr std::uint64_t at_zero_descriptor = 96;
constexpr std::uint64_t zeros_offset = std::uint64_t{512} << 10;  // where nothing lies
constexpr std::uint64_t log_sequence = 7;

std::uint64_t log_offset(const File& file) {
    return little_at<std::uint64_t>(file, headers(file)[0] + at_log_offset);
}
bool has_entry(const File& file) {
    return little_at<std::uint32_t>(file, log_offset(file)) == 0x65676f6c;  // "loge"
}
template <std::uint64_t within>
Places log_field(const File& file) {
    return has_entry(file) ? Places{log_offset(file) + within} : Places{};
}

void put_text(std::span<std::byte> bytes, std::size_t at, std::string_view text) {
    std::ranges::copy(std::as_bytes(std::span(text)),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

// Once it is replayed all is as before: it writes what is there.
std::array<std::byte, log_entry_bytes> make_entry(const File& file, const Uuid& guid) {
    std::array<std::byte, log_entry_bytes> entry{};
    const auto put = [&](std::size_t at, auto value) { store_le(entry.data() + at, value); };
    const std::uint64_t target = start_of(file, table_region);
    std::array<std::byte, sector> data{};
    file.read_at(target, data);
    put_text(entry, 0, "loge");
    put(at_entry_length, static_cast<std::uint32_t>(log_entry_bytes));
    put(16, log_sequence);
    put(24, std::uint32_t{2});  // descriptors
    std::ranges::copy(guid, entry.begin() + 32);
    put(48, file.size());
    put(56, file.size());
    put_text(entry, at_data_descriptor, "desc");
    std::ranges::copy(std::span(data).last(4), entry.begin() + at_data_descriptor + 4);
    std::ranges::copy(std::span(data).first(8), entry.begin() + at_data_descriptor + 8);
    put(at_data_descriptor + 16, target);
    put(at_data_descriptor + 24, log_sequence);
    put_text(entry, at_zero_descriptor, "zero");
    put(at_zero_descriptor + 8, sector);
    put(at_zero_descriptor + 16, zeros_offset);
    put(at_zero_descriptor + 24, log_sequence);
    put_text(entry, sector, "data");
    std::ranges::copy(std::span(data).subspan(8, sector - 12), entry.begin() + sector + 8);
    put(2 * sector - 4, static_cast<std::uint32_t>(log_sequence));
    put_checksum(entry);
    return entry;
}

// The builder leaves the log empty.
void fill_log(const ImageRecipe& recipe, const File& file) {
    if (std::ranges::none_of(
            recipe.damage, [](const Damage& damage) { return damage.field.starts_with("log."); })) {
        return;
    }
    constexpr Uuid guid = vhdx::guid(0x4b1f9a0c5d3e7788, 0x1122334455667788);
    file.write_at(log_offset(file), make_entry(file, guid));
    const std::uint64_t at = headers(file)[0];
    std::array<std::byte, header_bytes> header{};
    file.read_at(at, header);
    std::ranges::copy(guid, header.begin() + at_log_guid);
    put_checksum(header);
    file.write_at(at, header);
}

void reseal_area(const File& file, std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t size = file.size();
    if (length >= 8 && length <= size && offset <= size - length) {
        std::vector<std::byte> bytes(length);
        file.read_at(offset, bytes);
        put_checksum(bytes);
        file.write_at(offset, bytes);
    }
}

void reseal(const File& file) {
    for (const std::uint64_t at : header_offsets) {
        reseal_area(file, at, header_bytes);
    }
    for (const std::uint64_t at : region_table_offsets) {
        reseal_area(file, at, region_table_bytes);
    }
    if (has_entry(file)) {
        const std::uint64_t at = log_offset(file);
        const auto length = little_at<std::uint32_t>(file, at + at_entry_length);
        reseal_area(file, at, std::min<std::uint64_t>(length, 64 * sector));
    }
}

constexpr std::string_view known = "says what to do with what a tool does not know";
constexpr std::string_view no_use = "qemu-img does not look at it";

}  // namespace

DamageTable vhdx_damage() {
    constexpr auto row = [](std::string_view name, unsigned bytes, auto where) {
        return FieldRow(ByteOrder::little, name, bytes, where);
    };
    // Of an entry of the table: its lowest bits are the block's state.
    constexpr std::uint64_t offset_bits = ~((std::uint64_t{1} << 20) - 1);
    static constexpr DamageField fields[] = {
        row("file.signature", 8, 0),
        row("file.creator", 8, 8).unread(no_use),
        row("header.signature", 4, header_field<0>),
        row("header.checksum", 4, header_field<at_checksum>).sum(),
        row("header.sequence", 8, header_field<at_sequence>),
        row("header.file_guid", 8, header_field<at_file_guid>).unread(no_use),
        row("header.data_guid", 8, header_field<at_data_guid>).unread(no_use),
        row("header.log_guid", 8, header_field<at_log_guid>),
        row("header.log_version", 2, header_field<64>),
        row("header.version", 2, header_field<66>),
        row("header.log_bytes", 4, header_field<at_log_length>),
        row("header.log_offset", 8, header_field<at_log_offset>).pointer(1),
        row("regions.signature", 4, regions_field<0>),
        row("regions.checksum", 4, regions_field<at_checksum>).sum(),
        row("regions.count", 4, regions_field<8>),
        row("region.guid", 8, region_field<0>),
        row("region.offset", 8, region_field<16>).pointer(1),
        row("region.bytes", 4, region_field<24>),
        row("region.flags", 4, region_field<28>).unread(known),
        row("metadata.signature", 8, metadata_field<0>),
        row("metadata.count", 2, metadata_field<10>),
        row("item.guid", 8, item_entries<0>),
        row("item.offset", 4, item_entries<16>).pointer(1),
        row("item.bytes", 4, item_entries<20>).unread(no_use),
        row("item.flags", 4, item_entries<24>).unread(known),
        row("parameters.block_bytes", 4, item_field<parameters_item, 0>),
        row("parameters.flags", 4, item_field<parameters_item, 4>),
        row("disk.bytes", 8, item_field<size_item, 0>),
        row("disk.id", 8, item_field<page_83_item, 0>).unread(no_use),
        row("disk.logical_sector", 4, item_field<logical_sector_item, 0>),
        row("disk.physical_sector", 4, item_field<physical_sector_item, 0>).unread(no_use),
        row("table.entry", 8, table_entries).pointer(1, offset_bits),
        row("log.signature", 4, log_field<0>),
        row("log.checksum", 4, log_field<at_checksum>).sum(),
        row("log.entry_bytes", 4, log_field<at_entry_length>),
        row("log.tail", 4, log_field<12>).unread("the log has one entry"),
        row("log.sequence", 8, log_field<16>),
        row("log.descriptors", 4, log_field<24>),
        row("log.guid", 8, log_field<32>),
        row("log.flushed_bytes", 8, log_field<48>),
        row("log.last_bytes", 8, log_field<56>),
        row("log.data_signature", 4, log_field<at_data_descriptor>),
        row("log.data_start", 8, log_field<at_data_descriptor + 8>),
        row("log.data_offset", 8, log_field<at_data_descriptor + 16>).pointer(1),
        row("log.data_sequence", 8, log_field<at_data_descriptor + 24>),
        row("log.zero_bytes", 8, log_field<at_zero_descriptor + 8>),
        row("log.zero_offset", 8, log_field<at_zero_descriptor + 16>).pointer(1),
        row("log.sector_signature", 4, log_field<sector>)
            .unread("the sequence numbers tell enough"),
        row("log.sector_sequence", 4, log_field<sector + 4>),
    };
    return {fields, fill_log, reseal};
}

}  // namespace difffuzz

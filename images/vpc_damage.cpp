// Offsets as in "Virtual Hard Disk Image Format Specification 1.0" (Microsoft).
#include <array>

#include "images/damage_places.hpp"
#include "images/damage_tables.hpp"
#include "images/virtual_content.hpp"
#include "images/vpc_layout.hpp"

namespace difffuzz {
namespace {

using namespace vpc;

constexpr std::size_t at_header_checksum = 36;

bool is_dynamic(const File& file) { return has_cookie(read_footer(file, 0), footer_cookie); }

// The copy at the start, which readers take first, and the footer itself.
Places footers(const File& file) {
    Places places;
    if (is_dynamic(file)) {
        places.push_back(0);
    }
    places.push_back(file.size() - footer_bytes);
    return places;
}
template <std::uint64_t within>
Places footer_field(const File& file) {
    Places places = footers(file);
    for (std::uint64_t& place : places) {
        place += within;
    }
    return places;
}

Places header(const File& file, std::uint64_t within) {
    return is_dynamic(file) ? Places{big_at<std::uint64_t>(file, at_header_offset) + within}
                            : Places{};
}
template <std::uint64_t within>
Places header_field(const File& file) {
    return header(file, within);
}

Places table_entries(const File& file) {
    Places entries;
    for (const std::uint64_t at : header(file, 0)) {
        add_array(entries, big_at<std::uint64_t>(file, at + at_table_offset),
                  big_at<std::uint32_t>(file, at + at_table_entries), 4);
    }
    return used_first(
        entries, [&](std::uint64_t at) { return big_at<std::uint32_t>(file, at) != UINT32_MAX; });
}

// The first byte of the bitmap of sectors at each block's start.
Places bitmaps(const File& file) {
    Places places;
    for (const std::uint64_t entry : table_entries(file)) {
        if (const auto sector = big_at<std::uint32_t>(file, entry); sector != UINT32_MAX) {
            places.push_back(sector * sector_bytes);
        }
    }
    return places;
}

// As footer_checksum(), for a header.
std::uint32_t header_checksum(const std::array<std::byte, header_bytes>& bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const bool own = i >= at_header_checksum && i < at_header_checksum + 4;
        sum += own ? 0 : std::to_integer<std::uint32_t>(bytes[i]);
    }
    return ~sum;
}

void write_sum(const File& file, std::uint64_t at, std::uint32_t sum) {
    std::array<std::byte, 4> bytes{};
    store_be(bytes.data(), sum);
    file.write_at(at, bytes);
}

// What has lost its mark is not taken for a footer or header by anyone.
void reseal(const File& file) {
    const std::uint64_t size = file.size();
    for (const std::uint64_t at : {std::uint64_t{0}, size - footer_bytes}) {
        const Footer footer = read_footer(file, at);
        if (!has_cookie(footer, footer_cookie)) {
            continue;
        }
        write_sum(file, at + at_checksum, footer_checksum(footer));
        const auto place = load_be<std::uint64_t>(footer.data() + at_header_offset);
        std::array<std::byte, header_bytes> header{};
        if (size >= header_bytes && place <= size - header_bytes) {
            file.read_at(place, header);
            if (has_cookie(header, header_cookie)) {
                write_sum(file, place + at_header_checksum, header_checksum(header));
            }
        }
    }
}

// Of each, readers know whether the size or the geometry counts: "qemu", "qem2", "win ", "d2v ",
// "tap", "CTXS".
constexpr std::uint64_t creators[] = {0x71656d75, 0x71656d32, 0x77696e20,
                                      0x64327620, 0x74617000, 0x43545853};
constexpr std::uint64_t types[] = {type_fixed, type_dynamic, type_differencing};
constexpr std::string_view no_use = "qemu-img does not look at it";
constexpr std::string_view no_parent = "of differencing images, which qemu-img does not open";

}  // namespace

DamageTable vpc_damage() {
    constexpr auto row = [](std::string_view name, unsigned bytes, auto where) {
        return FieldRow(ByteOrder::big, name, bytes, where);
    };
    static constexpr DamageField fields[] = {
        row("footer.cookie", 8, footer_field<0>),
        row("footer.features", 4, footer_field<8>).unread(no_use),
        row("footer.version", 4, footer_field<12>).unread(no_use),
        row("footer.header_offset", 8, footer_field<at_header_offset>).pointer(1),
        row("footer.time", 4, footer_field<at_time_stamp>).unread(no_use),
        row("footer.creator", 4, footer_field<at_creator>)
            .means(creators)
            .unread("size and geometry agree in what qemu-img makes"),
        row("footer.creator_version", 4, footer_field<32>).unread(no_use),
        row("footer.creator_host", 4, footer_field<36>).unread(no_use),
        row("footer.original_size", 8, footer_field<40>).unread(no_use),
        row("footer.current_size", 8, footer_field<at_current_size>),
        row("footer.cylinders", 2, footer_field<at_cylinders>),
        row("footer.heads", 1, footer_field<at_heads>),
        row("footer.track_sectors", 1, footer_field<at_track_sectors>),
        row("footer.type", 4, footer_field<at_disk_type>).means(types),
        row("footer.checksum", 4, footer_field<at_checksum>).sum(),
        row("footer.uuid", 8, footer_field<at_uuid>).unread(no_use),
        row("footer.saved_state", 1, footer_field<84>).unread(no_use),
        row("header.cookie", 8, header_field<0>),
        row("header.next", 8, header_field<8>).unread(no_use),
        row("header.table_offset", 8, header_field<at_table_offset>).pointer(1),
        row("header.version", 4, header_field<24>).unread(no_use),
        row("header.table_entries", 4, header_field<at_table_entries>),
        row("header.block_bytes", 4, header_field<at_block_size>),
        row("header.checksum", 4, header_field<at_header_checksum>).unread(no_use).sum(),
        row("header.parent_name", 8, header_field<64>).unread(no_parent),
        row("header.locator", 4, header_field<576>).unread(no_parent),
        row("table.entry", 4, table_entries).pointer(sector_bytes),
        row("bitmap.byte", 1, bitmaps).unread(no_use),
    };
    return {fields, nullptr, reseal};
}

}  // namespace difffuzz

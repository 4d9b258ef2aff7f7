// Offsets as in qemu's docs/interop/qcow2.txt.
#include "images/qcow2_damage.hpp"

#include <algorithm>

#include "images/damage_places.hpp"

namespace difffuzz::qcow2 {
namespace {

constexpr std::uint64_t offset_bits = 0x00fffffffffffe00;
constexpr std::uint64_t compressed_bit = std::uint64_t{1} << 62U;
constexpr std::uint32_t bitmaps_extension = 0x23852875;
constexpr std::size_t max_tables = 64;

std::uint32_t version(const File& file) { return big_at<std::uint32_t>(file, 4); }
std::uint64_t cluster_bytes(const File& file) {
    return std::uint64_t{1} << (big_at<std::uint32_t>(file, 20) & 31U);
}
bool extended_l2(const File& file) {
    return version(file) >= 3 && (big_at<std::uint64_t>(file, 72) & 16U) != 0;
}
std::uint64_t header_bytes(const File& file) {
    return version(file) >= 3 ? big_at<std::uint32_t>(file, 100) : 72;
}

// Where the tables lie that the entries of a table lead to.
Places targets(const File& file, const Places& entries) {
    Places tables;
    for (const std::uint64_t entry : entries) {
        const std::uint64_t table = big_at<std::uint64_t>(file, entry) & offset_bits;
        if (table != 0 && tables.size() < max_tables) {
            tables.push_back(table);
        }
    }
    return tables;
}

Places l1_entries(const File& file) {
    Places places;
    add_array(places, big_at<std::uint64_t>(file, 40), big_at<std::uint32_t>(file, 36), 8);
    return places;
}

// Entries that say something; the many empty ones would bury them.
Places l2_fields(const File& file, bool second_half, std::uint64_t flag) {
    const std::size_t words = extended_l2(file) ? 2 : 1;
    Places places;
    for (const std::uint64_t table : targets(file, l1_entries(file))) {
        const auto numbers = big_table(file, table, cluster_bytes(file) / 8);
        for (std::size_t i = 0; i < numbers.size() && places.size() < max_places; i += words) {
            if (numbers[i] != 0 && (numbers[i] & compressed_bit) == flag) {
                places.push_back(table + i * 8 + (second_half ? 8 : 0));
            }
        }
    }
    return places;
}
Places l2_entries(const File& file) { return l2_fields(file, false, 0); }
Places compressed_entries(const File& file) { return l2_fields(file, false, compressed_bit); }
Places subclusters_of(const File& file) {
    return extended_l2(file) ? l2_fields(file, true, 0) : Places{};
}

Places refcount_table(const File& file) {
    Places places;
    const std::uint64_t entries =
        big_at<std::uint32_t>(file, 56) * (cluster_bytes(file) / sizeof(std::uint64_t));
    const auto table = big_at<std::uint64_t>(file, 48);
    const auto numbers = big_table(file, table, entries);
    for (std::size_t i = 0; i < numbers.size() && places.size() < max_places; ++i) {
        if (numbers[i] != 0) {
            places.push_back(table + i * 8);
        }
    }
    return places;
}

// The bytes that hold refcounts of clusters that the file has.
Places refcounts(const File& file) {
    const std::uint64_t bits =
        version(file) >= 3 ? std::uint64_t{1} << (big_at<std::uint32_t>(file, 96) & 7U) : 16;
    const std::uint64_t clusters = divide_up(file.size(), cluster_bytes(file));
    Places places;
    std::uint64_t left = divide_up(clusters * bits, 8);
    for (const std::uint64_t block : targets(file, refcount_table(file))) {
        const std::uint64_t here = std::min(left, cluster_bytes(file));
        add_array(places, block, here, 1);
        left -= here;
    }
    return places;
}

Places extensions(const File& file, std::uint64_t within) {
    Places places;
    const std::uint64_t end = cluster_bytes(file);
    for (std::uint64_t at = header_bytes(file); at + 8 <= end && places.size() < 16;) {
        places.push_back(at + within);
        if (big_at<std::uint32_t>(file, at) == 0) {
            break;
        }
        at += 8 + round_up(big_at<std::uint32_t>(file, at + 4), 8);
    }
    return places;
}
Places extension_types(const File& file) { return extensions(file, 0); }
Places extension_lengths(const File& file) { return extensions(file, 4); }

// Snapshot table: a header of 40 bytes, extra data, id, name; padded to 8.
Places snapshots(const File& file, std::uint64_t within) {
    Places places;
    auto at = big_at<std::uint64_t>(file, 64);
    for (std::uint32_t i = 0; i < big_at<std::uint32_t>(file, 60) && i < max_tables; ++i) {
        places.push_back(at + within);
        const std::uint64_t id = big_at<std::uint16_t>(file, at + 12);
        const std::uint64_t name = big_at<std::uint16_t>(file, at + 14);
        at += round_up(40 + big_at<std::uint32_t>(file, at + 36) + id + name, 8);
    }
    return places;
}
template <std::uint64_t within>
Places snapshot_field(const File& file) {
    return snapshots(file, within);
}
Places snapshot_l1_entries(const File& file) {
    Places places;
    for (const std::uint64_t at : snapshots(file, 0)) {
        add_array(places, big_at<std::uint64_t>(file, at), big_at<std::uint32_t>(file, at + 8), 8);
    }
    return places;
}

// Of the extension: number of bitmaps, reserved, bytes and offset of the directory.
template <std::uint64_t within>
Places bitmaps_field(const File& file) {
    Places places;
    for (const std::uint64_t extension : extension_types(file)) {
        if (big_at<std::uint32_t>(file, extension) == bitmaps_extension) {
            places.push_back(extension + 8 + within);
        }
    }
    return places;
}

// Bitmap directory: entries of 24 bytes, extra data, name; padded to 8.
Places bitmaps(const File& file, std::uint64_t within) {
    Places places;
    for (const std::uint64_t extension : bitmaps_field<0>(file)) {
        const auto count = big_at<std::uint32_t>(file, extension);
        auto at = big_at<std::uint64_t>(file, extension + 16);
        for (std::uint32_t i = 0; i < count && i < max_tables; ++i) {
            places.push_back(at + within);
            const std::uint64_t name = big_at<std::uint16_t>(file, at + 18);
            at += round_up(24 + big_at<std::uint32_t>(file, at + 20) + name, 8);
        }
    }
    return places;
}
template <std::uint64_t within>
Places bitmap_field(const File& file) {
    return bitmaps(file, within);
}
Places bitmap_table_entries(const File& file) {
    Places places;
    for (const std::uint64_t at : bitmaps(file, 0)) {
        add_array(places, big_at<std::uint64_t>(file, at), big_at<std::uint32_t>(file, at + 8), 8);
    }
    return places;
}

template <std::uint64_t offset>
Places version_3(const File& file) {
    return version(file) >= 3 ? Places{offset} : Places{};
}

}  // namespace

std::span<const DamageField> damage_fields() {
    constexpr auto row = [](std::string_view name, unsigned bytes, auto where) {
        return FieldRow(ByteOrder::big, name, bytes, where);
    };
    static constexpr DamageField fields[] = {
        row("header.magic", 4, 0),
        row("header.version", 4, 4),
        row("header.backing_offset", 8, 8).pointer(1),
        row("header.backing_length", 4, 16),
        row("header.cluster_bits", 4, 20),
        row("header.size", 8, 24),
        row("header.encryption", 4, 32),
        row("header.l1_entries", 4, 36),
        row("header.l1_offset", 8, 40).pointer(1),
        row("header.refcount_table_offset", 8, 48).pointer(1),
        row("header.refcount_table_clusters", 4, 56),
        row("header.snapshots", 4, 60),
        row("header.snapshots_offset", 8, 64).pointer(1),
        row("header.incompatible", 8, version_3<72>),
        row("header.compatible", 8, version_3<80>),
        row("header.autoclear", 8, version_3<88>),
        row("header.refcount_order", 4, version_3<96>),
        row("header.length", 4, version_3<100>),
        row("header.compression", 1, version_3<104>),
        row("extension.type", 4, extension_types),
        row("extension.length", 4, extension_lengths),
        row("l1.entry", 8, l1_entries).pointer(1, offset_bits),
        row("l1.flags", 1, l1_entries),
        row("l2.entry", 8, l2_entries).pointer(1, offset_bits),
        row("l2.flags", 1, l2_entries),
        row("l2.compressed", 8, compressed_entries),
        row("l2.subclusters", 8, subclusters_of),
        row("refcount_table.entry", 8, refcount_table).pointer(1, offset_bits),
        row("refcount_block.byte", 1, refcounts),
        row("snapshot.l1_offset", 8, snapshot_field<0>).pointer(1),
        row("snapshot.l1_entries", 4, snapshot_field<8>),
        row("snapshot.id_length", 2, snapshot_field<12>),
        row("snapshot.name_length", 2, snapshot_field<14>),
        row("snapshot.vm_state", 4, snapshot_field<32>)
            .unread("the size in the extra data counts instead"),
        row("snapshot.extra_length", 4, snapshot_field<36>),
        row("snapshot_l1.entry", 8, snapshot_l1_entries).pointer(1, offset_bits),
        row("bitmaps.count", 4, bitmaps_field<0>),
        row("bitmaps.directory_bytes", 8, bitmaps_field<8>),
        row("bitmaps.directory_offset", 8, bitmaps_field<16>).pointer(1),
        row("bitmap.table_offset", 8, bitmap_field<0>).pointer(1),
        row("bitmap.table_entries", 4, bitmap_field<8>),
        row("bitmap.flags", 4, bitmap_field<12>),
        row("bitmap.type", 1, bitmap_field<16>),
        row("bitmap.granularity_bits", 1, bitmap_field<17>),
        row("bitmap.name_length", 2, bitmap_field<18>),
        row("bitmap_table.entry", 8, bitmap_table_entries).pointer(1, offset_bits),
    };
    return fields;
}

}  // namespace difffuzz::qcow2

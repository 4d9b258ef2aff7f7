// Offsets as in qemu's docs/interop/parallels.txt.
#include "images/damage_places.hpp"
#include "images/damage_tables.hpp"

namespace difffuzz {
namespace {

Places table_entries(const File& file) {
    Places entries;
    add_array(entries, 64, little_at<std::uint32_t>(file, 32), 4);
    return used_first(entries,
                      [&](std::uint64_t at) { return little_at<std::uint32_t>(file, at) != 0; });
}

constexpr std::uint64_t in_use[] = {0x746f6e59};  // set while a tool writes
constexpr std::string_view no_use = "qemu-img does not look at it";

}  // namespace

DamageTable parallels_damage() {
    constexpr auto row = [](std::string_view name, unsigned bytes, auto where) {
        return FieldRow(ByteOrder::little, name, bytes, where);
    };
    constexpr std::uint64_t sector = 512;
    // Clusters are at least so large; what is past the end of the file in these is in all.
    constexpr std::uint64_t cluster = 4096;
    static constexpr DamageField fields[] = {
        row("header.magic", 8, 0),
        row("header.magic_end", 8, 8),
        row("header.version", 4, 16),
        row("header.heads", 4, 20).unread(no_use),
        row("header.cylinders", 4, 24).unread(no_use),
        row("header.cluster_sectors", 4, 28),
        row("header.table_entries", 4, 32),
        row("header.sectors", 8, 36),
        row("header.in_use", 4, 44).means(in_use),
        row("header.data_offset", 4, 48).pointer(sector),
        row("header.flags", 4, 52).unread(no_use),
        row("header.extension_offset", 8, 56).pointer(sector),
        row("table.entry", 4, table_entries).pointer(cluster),
    };
    return {fields};
}

}  // namespace difffuzz

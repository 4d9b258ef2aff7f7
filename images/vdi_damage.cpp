// Offsets as in VirtualBox's VDICore.h.
#include "images/damage_places.hpp"
#include "images/damage_tables.hpp"

namespace difffuzz {
namespace {

Places map_entries(const File& file) {
    Places entries;
    add_array(entries, little_at<std::uint32_t>(file, 340), little_at<std::uint32_t>(file, 384), 4);
    // The two highest values have no data.
    return used_first(
        entries, [&](std::uint64_t at) { return little_at<std::uint32_t>(file, at) < 0xfffffffe; });
}

constexpr std::string_view no_use = "qemu-img does not look at it";

}  // namespace

DamageTable vdi_damage() {
    constexpr auto row = [](std::string_view name, unsigned bytes, auto where) {
        return FieldRow(ByteOrder::little, name, bytes, where);
    };
    constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;
    static constexpr DamageField fields[] = {
        row("header.text", 8, 0).unread(no_use),
        row("header.signature", 4, 64),
        row("header.version", 4, 68),
        row("header.size", 4, 72).unread(no_use),
        row("header.type", 4, 76).unread(no_use),
        row("header.flags", 4, 80).unread(no_use),
        row("header.description", 8, 84).unread(no_use),
        row("header.map_offset", 4, 340).pointer(1),
        row("header.data_offset", 4, 344).pointer(1),
        row("header.cylinders", 4, 348).unread(no_use),
        row("header.heads", 4, 352).unread(no_use),
        row("header.sectors", 4, 356).unread(no_use),
        row("header.sector_bytes", 4, 360),
        row("header.disk_bytes", 8, 368),
        row("header.block_bytes", 4, 376),
        row("header.block_extra", 4, 380).unread(no_use),
        row("header.blocks", 4, 384),
        row("header.allocated_blocks", 4, 388),
        row("header.uuid", 8, 392).unread(no_use),
        row("header.uuid_snapshot", 8, 408).unread(no_use),
        row("header.uuid_link", 8, 424),
        row("header.uuid_parent", 8, 440),
        row("map.entry", 4, map_entries).pointer(block_bytes),
    };
    return {fields};
}

}  // namespace difffuzz

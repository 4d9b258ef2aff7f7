// Offsets as in qemu's docs/interop/qed_spec.txt.
#include "images/damage_places.hpp"
#include "images/damage_tables.hpp"

namespace difffuzz {
namespace {

bool is_used(const File& file, std::uint64_t entry) {
    return little_at<std::uint64_t>(file, entry) != 0;
}
std::uint64_t table_entries(const File& file) {
    return std::uint64_t{little_at<std::uint32_t>(file, 4)} * little_at<std::uint32_t>(file, 8) / 8;
}

Places l1_entries(const File& file) {
    Places entries;
    add_array(entries, little_at<std::uint64_t>(file, 40), table_entries(file), 8);
    return used_first(entries, [&](std::uint64_t at) { return is_used(file, at); });
}

Places l2_entries(const File& file) {
    Places entries;
    for (const std::uint64_t l1 : l1_entries(file)) {
        if (is_used(file, l1)) {
            add_array(entries, little_at<std::uint64_t>(file, l1), table_entries(file), 8);
        }
    }
    return used_first(entries, [&](std::uint64_t at) { return is_used(file, at); });
}

}  // namespace

DamageTable qed_damage() {
    constexpr auto row = [](std::string_view name, unsigned bytes, auto where) {
        return FieldRow(ByteOrder::little, name, bytes, where);
    };
    static constexpr DamageField fields[] = {
        row("header.magic", 4, 0),
        row("header.cluster_bytes", 4, 4),
        row("header.table_clusters", 4, 8),
        row("header.clusters", 4, 12),
        row("header.features", 8, 16),
        row("header.compatible", 8, 24)
            .unread("what is compatible changes nothing for those who do not know it"),
        row("header.autoclear", 8, 32).unread("a tool that writes clears it, and does not say so"),
        row("header.l1_offset", 8, 40).pointer(1),
        row("header.size", 8, 48),
        row("header.backing_offset", 4, 56).pointer(1),
        row("header.backing_bytes", 4, 60),
        row("l1.entry", 8, l1_entries).pointer(1),
        row("l2.entry", 8, l2_entries).pointer(1),
    };
    return {fields};
}

}  // namespace difffuzz

// Offsets as in "The QCOW Image Format" (M. McLoughlin 2006).
#include "images/damage_places.hpp"
#include "images/damage_tables.hpp"

namespace difffuzz {
namespace {

bool is_used(const File& file, std::uint64_t entry) {
    return big_at<std::uint64_t>(file, entry) != 0;
}

Places l1_entries(const File& file) {
    const unsigned covers = big_at<std::uint8_t>(file, 32) + big_at<std::uint8_t>(file, 33);
    const auto size = big_at<std::uint64_t>(file, 24);
    Places entries;
    add_array(entries, big_at<std::uint64_t>(file, 40), divide_up(size, std::uint64_t{1} << covers),
              8);
    return used_first(entries, [&](std::uint64_t at) { return is_used(file, at); });
}

Places l2_entries(const File& file) {
    const std::uint64_t count = std::uint64_t{1} << big_at<std::uint8_t>(file, 33);
    Places entries;
    for (const std::uint64_t l1 : l1_entries(file)) {
        if (is_used(file, l1)) {
            add_array(entries, big_at<std::uint64_t>(file, l1), count, 8);
        }
    }
    return used_first(entries, [&](std::uint64_t at) { return is_used(file, at); });
}

}  // namespace

DamageTable qcow_damage() {
    constexpr auto row = [](std::string_view name, unsigned bytes, auto where) {
        return FieldRow(ByteOrder::big, name, bytes, where);
    };
    // The highest bit says that the cluster is compressed; then its length follows.
    constexpr std::uint64_t offset_bits = UINT64_MAX >> 1U;
    static constexpr DamageField fields[] = {
        row("header.magic", 4, 0),
        row("header.version", 4, 4),
        row("header.backing_offset", 8, 8).pointer(1),
        row("header.backing_bytes", 4, 16),
        row("header.time", 4, 20).unread("qemu-img does not look at it"),
        row("header.size", 8, 24),
        row("header.cluster_bits", 1, 32),
        row("header.l2_bits", 1, 33),
        row("header.padding", 2, 34).unread("no one looks at it"),
        row("header.encryption", 4, 36),
        row("header.l1_offset", 8, 40).pointer(1),
        row("l1.entry", 8, l1_entries).pointer(1, offset_bits),
        row("l2.entry", 8, l2_entries).pointer(1, offset_bits),
    };
    return {fields};
}

}  // namespace difffuzz

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "images/bytes.hpp"
#include "images/interval_map.hpp"
#include "images/qcow2_bitmap_layout.hpp"
#include "images/qcow2_bitmaps.hpp"

namespace difffuzz::qcow2 {
namespace {

// Sets bits [begin, end); bit 0 is the lowest of byte 0.
void set_bits(std::span<std::byte> bytes, std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
        if (begin % 8 == 0 && end - begin >= 8) {
            const std::uint64_t whole = (end - begin) / 8;
            std::ranges::fill(bytes.subspan(begin / 8, whole), std::byte{0xff});
            begin += whole * 8;
        } else {
            bytes[begin / 8] |= static_cast<std::byte>(1U << begin % 8);
            ++begin;
        }
    }
}

IntervalMap<bool> granules_of(const BitmapRecipe& recipe) {
    IntervalMap<bool> granules;
    for (const ByteRange& range : recipe.dirty) {
        granules.assign(range.offset / recipe.granularity,
                        divide_up(range.offset + range.length, recipe.granularity), true);
    }
    return granules;
}

}  // namespace

BitmapArea::BitmapArea(const std::vector<BitmapRecipe>& bitmaps, std::uint64_t disk_size,
                       std::uint64_t cluster_bytes)
    : cluster_bytes_(cluster_bytes) {
    for (const BitmapRecipe& recipe : bitmaps) {
        Placed placed = place(recipe, disk_size);
        placed.table = clusters_ * cluster_bytes;
        clusters_ += divide_up(placed.entries * 8, cluster_bytes);
        clusters_ += static_cast<std::uint64_t>(std::ranges::count_if(
            placed.dirty, [](const auto& entry) { return !entry.second.empty(); }));
        bitmaps_.push_back(std::move(placed));
    }
    directory_ = clusters_ * cluster_bytes;
    clusters_ += divide_up(encode_directory(0).size(), cluster_bytes);
}

BitmapArea::Placed BitmapArea::place(const BitmapRecipe& recipe, std::uint64_t disk_size) const {
    Placed placed;
    placed.recipe = &recipe;
    placed.entries = divide_up(divide_up(disk_size, recipe.granularity), cluster_bytes_ * 8);
    const std::uint64_t per_entry = cluster_bytes_ * 8;
    const IntervalMap<bool> granules = granules_of(recipe);
    for (const auto& [begin, range] : granules.ranges()) {
        for (std::uint64_t entry = begin / per_entry; entry * per_entry < range.end; ++entry) {
            const std::uint64_t start = entry * per_entry;
            const std::uint64_t from = std::max(begin, start) - start;
            const std::uint64_t to = std::min(range.end - start, per_entry);
            std::vector<std::byte>& bits = placed.dirty[entry];
            if (from != 0 || to != per_entry) {
                bits.resize(cluster_bytes_);
                set_bits(bits, from, to);
            }
        }
    }
    return placed;
}

BitmapDirectory BitmapArea::directory(std::uint64_t offset) const {
    return {static_cast<std::uint32_t>(bitmaps_.size()), offset + directory_,
            encode_directory(offset).size()};
}

std::vector<std::byte> BitmapArea::encode_directory(std::uint64_t offset) const {
    std::vector<std::byte> bytes;
    for (const Placed& bitmap : bitmaps_) {
        const BitmapRecipe& recipe = *bitmap.recipe;
        const std::size_t start = bytes.size();
        bytes.resize(round_up(start + bitmap_head_bytes + recipe.name.size(), 8));
        std::byte* const head = bytes.data() + start;
        store_be(head + at_bitmap_table, offset + bitmap.table);
        store_be(head + at_bitmap_entries, static_cast<std::uint32_t>(bitmap.entries));
        store_be(head + at_bitmap_flags, recipe.enabled ? bitmap_auto : std::uint32_t{0});
        store_be(head + at_bitmap_type, bitmap_dirty_tracking);
        store_be(head + at_bitmap_granularity,
                 static_cast<std::uint8_t>(std::countr_zero(recipe.granularity)));
        store_be(head + at_bitmap_name_length, static_cast<std::uint16_t>(recipe.name.size()));
        std::ranges::copy(std::as_bytes(std::span(recipe.name)), head + bitmap_head_bytes);
    }
    return bytes;
}

void BitmapArea::write(std::uint64_t offset, SparseWriter& out) const {
    std::array<std::byte, 8> entry;
    for (const Placed& bitmap : bitmaps_) {
        const std::uint64_t table = offset + bitmap.table;
        const std::uint64_t first = table + round_up(bitmap.entries * 8, cluster_bytes_);
        std::uint64_t next = first;
        for (const auto& [number, bits] : bitmap.dirty) {
            store_be(entry.data(), bits.empty() ? bitmap_all_dirty : next);
            next += bits.empty() ? 0 : cluster_bytes_;
            out.put(table + number * 8, entry);
        }
        next = first;
        for (const auto& [number, bits] : bitmap.dirty) {
            out.put(next, bits);
            next += bits.size();
        }
    }
    out.put(offset + directory_, encode_directory(offset));
}

}  // namespace difffuzz::qcow2

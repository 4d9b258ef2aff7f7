#include "images/qcow2_recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <string_view>
#include <utility>

#include "core/tools/dialect.hpp"
#include "images/bytes.hpp"
#include "images/interval_map.hpp"
#include "images/qcow2_layout.hpp"
#include "images/qcow2_refcounts.hpp"
#include "images/recipe_rules.hpp"

namespace difffuzz::qcow2 {
namespace {

constexpr std::uint64_t default_cluster_bytes = 65536;
// Bounds of what an image's content may take, so that a few bytes here and there of a stranger's
// recipe do not fill the disk.
constexpr std::uint64_t max_allocated_bytes = std::uint64_t{512} << 20;
constexpr std::uint64_t max_zero_clusters = std::uint64_t{1} << 20;
constexpr std::uint64_t max_l2_entries = std::uint64_t{1} << 21;
constexpr std::uint64_t max_l1_bytes_in_all = 2 * max_l1_bytes;
constexpr std::uint64_t max_bitmap_bits = std::uint64_t{1} << 26;
constexpr std::size_t max_snapshots = 16;
constexpr std::size_t max_bitmaps = 16;
constexpr std::size_t max_name = 255;

constexpr std::array<OptionRule, 9> option_rules{{
    {"cluster_size",
     [](const Scalar& value) {
         const std::uint64_t bytes = scalar_number(value);
         return std::has_single_bit(bytes) && bytes >= 512 && bytes <= std::uint64_t{2} << 20U;
     },
     "a power of two from 512 to 2M"},
    {"compat",
     [](const Scalar& value) {
         return is_word(value, "0.10") || is_word(value, "1.1") || is_word(value, "v2") ||
                is_word(value, "v3");
     },
     "0.10, 1.1, v2 or v3"},
    {"refcount_bits",
     [](const Scalar& value) {
         const std::uint64_t bits = scalar_number(value);
         return std::has_single_bit(bits) && bits <= 64;
     },
     "a power of two from 1 to 64"},
    {"lazy_refcounts", is_on_or_off, "on or off"},
    {"compression_type",
     [](const Scalar& value) { return is_word(value, "zlib") || is_word(value, "zstd"); },
     "zlib or zstd"},
    {"extended_l2", is_on_or_off, "on or off"},
    {"data_file", [](const Scalar& value) { return std::holds_alternative<WordValue>(value); },
     "the image's id and .data"},
    {"data_file_raw", is_on_or_off, "on or off"},
    {encryption_option, [](const Scalar& value) { return is_word(value, "luks"); }, "luks"},
}};

bool is_on(const ImageRecipe& recipe, std::string_view option) {
    return word_option(recipe, option, "off") == "on";
}

bool has_write(const ImageRecipe& recipe, WriteKind kind) {
    return std::ranges::find(recipe.content, kind, &ContentWrite::kind) != recipe.content.end();
}

std::string broken_version_2(const ImageRecipe& recipe) {
    const std::array<std::pair<bool, std::string_view>, 7> version_3_only{{
        {is_on(recipe, "lazy_refcounts"), "lazy refcounts"},
        {word_option(recipe, "compression_type", "zlib") == "zstd", "zstd"},
        {has_extended_l2(recipe), "extended L2 entries"},
        {refcount_bits(recipe) != 16, "refcounts of a width other than 16 bits"},
        {!recipe.bitmaps.empty(), "bitmaps"},
        {is_encrypted(recipe), "encryption by LUKS"},
        {!data_file(recipe).empty() || is_on(recipe, "data_file_raw"), "data file"},
    }};
    for (const auto& [asked, what] : version_3_only) {
        if (asked) {
            return fmt::format("version 2 (compat=0.10) has no {}", what);
        }
    }
    if (recipe.backing && has_write(recipe, WriteKind::unmap)) {
        return "version 2 (compat=0.10) cannot hide a backing file below an unmapped cluster";
    }
    return {};
}

std::string broken_data_file(const ImageRecipe& recipe) {
    if (data_file(recipe).empty()) {
        return is_on(recipe, "data_file_raw") ? "data_file_raw=on needs a data_file" : "";
    }
    if (data_file(recipe) != recipe.id + ".data") {
        return fmt::format("option data_file must be {}.data", recipe.id);
    }
    if (has_write(recipe, WriteKind::compressed)) {
        return "a data file cannot hold compressed clusters";
    }
    if (!recipe.snapshots.empty()) {
        return "an image with a data file cannot have snapshots";
    }
    if (recipe.backing && data_file_is_raw(recipe)) {
        return "data_file_raw=on does not go with a backing file";
    }
    return {};
}

std::string broken_encryption(const ImageRecipe& recipe) {
    if (is_encrypted(recipe) && has_write(recipe, WriteKind::compressed)) {
        return "an encrypted image cannot hold compressed clusters";
    }
    if (is_encrypted(recipe) && !data_file(recipe).empty()) {
        return "an encrypted image cannot have a data file";
    }
    return {};
}

bool is_name(const std::string& name) {
    return !name.empty() && name.size() <= max_name && name.find('\0') == std::string::npos;
}

std::string broken_snapshots(const ImageRecipe& recipe) {
    if (recipe.snapshots.size() > max_snapshots) {
        return fmt::format("it has {} snapshots, at most {} are allowed", recipe.snapshots.size(),
                           max_snapshots);
    }
    for (const SnapshotRecipe& snapshot : recipe.snapshots) {
        if (!is_name(snapshot.name)) {
            return fmt::format("a snapshot's name must be 1 to {} bytes without NUL", max_name);
        }
    }
    // What nothing touches is referred to by every snapshot and by the active state.
    if (recipe.snapshots.size() + 1 > max_refcount(refcount_bits(recipe))) {
        return fmt::format("refcounts of {} bits are too small for {} snapshots",
                           refcount_bits(recipe), recipe.snapshots.size());
    }
    const std::uint64_t cluster = cluster_bytes(recipe);
    const std::uint64_t l1_entry_covers = cluster / (has_extended_l2(recipe) ? 16 : 8) * cluster;
    const std::uint64_t l1_bytes = divide_up(recipe.size, l1_entry_covers) * 8;
    if (l1_bytes * (recipe.snapshots.size() + 1) > max_l1_bytes_in_all) {
        return fmt::format("its L1 table and those of its snapshots take more than {} bytes",
                           max_l1_bytes_in_all);
    }
    return {};
}

std::string broken_bitmaps(const ImageRecipe& recipe) {
    if (recipe.bitmaps.size() > max_bitmaps) {
        return fmt::format("it has {} bitmaps, at most {} are allowed", recipe.bitmaps.size(),
                           max_bitmaps);
    }
    if (recipe.size == 0 && !recipe.bitmaps.empty()) {
        return "an image of size 0 cannot have bitmaps";
    }
    std::set<std::string_view> names;
    std::uint64_t bits = 0;
    for (const BitmapRecipe& bitmap : recipe.bitmaps) {
        if (!is_name(bitmap.name) || !names.insert(bitmap.name).second) {
            return fmt::format(
                "a bitmap's name must be 1 to {} bytes without NUL, and no other one's", max_name);
        }
        bits += divide_up(recipe.size, bitmap.granularity);
        for (const ByteRange& range : bitmap.dirty) {
            if (range.length == 0) {
                return "a dirty range has no length";
            }
        }
    }
    if (bits > max_bitmap_bits) {
        return fmt::format("its bitmaps have more than {} bits in all", max_bitmap_bits);
    }
    return {};
}

std::uint64_t covered(const IntervalMap<bool>& map) {
    std::uint64_t sum = 0;
    for (const auto& [begin, range] : map.ranges()) {
        sum += range.end - begin;
    }
    return sum;
}

std::string broken_volume(const ImageRecipe& recipe) {
    const std::uint64_t cluster = cluster_bytes(recipe);
    IntervalMap<bool> part_data;
    IntervalMap<bool> data;
    IntervalMap<bool> zero;
    std::uint64_t allocated = 0;  // by the parts before
    auto snapshot = recipe.snapshots.begin();
    for (std::size_t i = 0; i < recipe.content.size(); ++i) {
        for (; snapshot != recipe.snapshots.end() && snapshot->after <= i; ++snapshot) {
            allocated += covered(part_data);
            part_data = {};
        }
        const ContentWrite& write = recipe.content[i];
        const std::uint64_t begin = write.offset / cluster;
        const std::uint64_t end = divide_up(write.offset + write.length, cluster);
        const auto add_data = [&](std::uint64_t from, std::uint64_t to) {
            part_data.assign(from, to, true);
            data.assign(from, to, true);
        };
        if (has_data(write.kind)) {
            add_data(begin, end);
        } else {
            add_data(begin, begin + 1);
            add_data(end - 1, end);
            zero.assign(begin, end, true);
        }
        // Without a zero flag, zeros over what lies below, or in a snapshot, are data.
        if (is_version_2(recipe) && (recipe.backing || !recipe.snapshots.empty())) {
            add_data(begin, end);
        }
    }
    allocated += covered(part_data);
    if (allocated > max_allocated_bytes / cluster) {
        return fmt::format("its writes touch clusters of more than {} bytes in all",
                           max_allocated_bytes);
    }
    if (covered(zero) > max_zero_clusters) {
        return fmt::format("its zero writes touch more than {} clusters", max_zero_clusters);
    }
    if ((covered(data) + covered(zero)) * (recipe.snapshots.size() + 1) > max_l2_entries) {
        return fmt::format("it and its snapshots may have more than {} L2 entries", max_l2_entries);
    }
    return {};
}

RecipeRules common_rules(const ImageRecipe& recipe) {
    RecipeRules rules;
    rules.backing = true;
    rules.snapshots = true;
    rules.bitmaps = true;
    // The options may still be wrong: the rules below are about a cluster size that makes sense.
    const std::uint64_t given = cluster_bytes(recipe);
    const bool sound = option_rules[0].accepts(NumberValue{static_cast<std::int64_t>(given)});
    const std::uint64_t cluster = sound ? given : default_cluster_bytes;
    rules.compressed_unit = cluster;
    rules.unmap_unit = cluster;
    // qemu's bound of the L1 table, each entry of which covers cluster / 8 clusters. (Half as many
    // with extended L2 entries, whose clusters are too large for it to matter.)
    rules.max_bytes = std::min(max_image_bytes, max_l1_bytes / 8 * (cluster / 8) * cluster);
    return rules;
}

}  // namespace

std::uint64_t cluster_bytes(const ImageRecipe& recipe) {
    return number_option(recipe, "cluster_size", default_cluster_bytes);
}

bool is_version_2(const ImageRecipe& recipe) {
    const std::string_view compat = word_option(recipe, "compat", "1.1");
    return compat == "0.10" || compat == "v2";
}

bool has_extended_l2(const ImageRecipe& recipe) { return is_on(recipe, "extended_l2"); }

unsigned refcount_bits(const ImageRecipe& recipe) {
    return static_cast<unsigned>(number_option(recipe, "refcount_bits", 16));
}

std::string data_file(const ImageRecipe& recipe) {
    return std::string(word_option(recipe, "data_file", ""));
}

bool data_file_is_raw(const ImageRecipe& recipe) { return is_on(recipe, "data_file_raw"); }

bool is_encrypted(const ImageRecipe& recipe) {
    return !word_option(recipe, encryption_option, "").empty();
}

std::string validate(const ImageRecipe& recipe) {
    if (std::string broken = broken_recipe_rule(recipe, common_rules(recipe), option_rules);
        !broken.empty()) {
        return broken;
    }
    std::string broken;
    if (has_extended_l2(recipe) && cluster_bytes(recipe) < 1U << min_extended_cluster_bits) {
        broken = "extended_l2=on needs clusters of 16k or more";
    }
    for (const auto rule :
         {broken_data_file, broken_encryption, broken_snapshots, broken_bitmaps, broken_volume}) {
        if (broken.empty()) {
            broken = rule(recipe);
        }
    }
    if (broken.empty() && is_version_2(recipe)) {
        broken = broken_version_2(recipe);
    }
    return broken.empty() ? broken : fmt::format("image {}: {}", recipe.id, broken);
}

}  // namespace difffuzz::qcow2

#include "images/qcow2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "images/bytes.hpp"
#include "images/content_model.hpp"
#include "images/image_error.hpp"
#include "images/interval_map.hpp"
#include "images/qcow2_builder.hpp"
#include "images/qcow2_header.hpp"
#include "images/qcow2_reader.hpp"
#include "images/recipe_rules.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t default_cluster_bytes = 65536;
// Bounds of what an image's content may take, so that a few bytes here and there of a stranger's
// recipe do not fill the disk.
constexpr std::uint64_t max_allocated_bytes = std::uint64_t{512} << 20;
constexpr std::uint64_t max_zero_clusters = std::uint64_t{1} << 20;

constexpr std::array<OptionRule, 5> option_rules{{
    {"cluster_size",
     [](const Scalar& value) {
         const std::uint64_t bytes = scalar_number(value);
         return std::has_single_bit(bytes) && bytes >= 512 && bytes <= std::uint64_t{2} << 20U;
     },
     "a power of two from 512 to 2M"},
    {"compat", [](const Scalar& value) { return is_word(value, "1.1"); }, "1.1"},
    {"refcount_bits", [](const Scalar& value) { return scalar_number(value) == 16; }, "16"},
    {"lazy_refcounts", is_on_or_off, "on or off"},
    {"compression_type",
     [](const Scalar& value) { return is_word(value, "zlib") || is_word(value, "zstd"); },
     "zlib or zstd"},
}};

std::uint64_t cluster_bytes(const ImageRecipe& recipe) {
    return number_option(recipe, "cluster_size", default_cluster_bytes);
}

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

std::uint64_t covered(const IntervalMap<bool>& map) {
    std::uint64_t sum = 0;
    for (const auto& [begin, range] : map.ranges()) {
        sum += range.end - begin;
    }
    return sum;
}

std::string broken_volume(const ImageRecipe& recipe) {
    const std::uint64_t cluster = cluster_bytes(recipe);
    IntervalMap<bool> data;
    IntervalMap<bool> zero;
    for (const ContentWrite& write : recipe.content) {
        const std::uint64_t begin = write.offset / cluster;
        const std::uint64_t end = divide_up(write.offset + write.length, cluster);
        if (has_data(write.kind)) {
            data.assign(begin, end, true);
        } else {
            data.assign(begin, begin + 1, true);
            data.assign(end - 1, end, true);
            zero.assign(begin, end, true);
        }
    }
    if (covered(data) > max_allocated_bytes / cluster) {
        return fmt::format("image {}: its writes touch clusters of more than {} bytes in all",
                           recipe.id, max_allocated_bytes);
    }
    if (covered(zero) > max_zero_clusters) {
        return fmt::format("image {}: its zero writes touch more than {} clusters", recipe.id,
                           max_zero_clusters);
    }
    return {};
}

std::string validate(const ImageRecipe& recipe) {
    const std::uint64_t cluster = cluster_bytes(recipe);
    RecipeRules rules;
    rules.backing = true;
    // The options may still be wrong: the rules below are about a cluster size that makes sense.
    const bool sound = option_rules[0].accepts(NumberValue{static_cast<std::int64_t>(cluster)});
    rules.compressed_unit = sound ? cluster : default_cluster_bytes;
    // qemu's bound of the L1 table, each entry of which covers cluster / 8 clusters.
    rules.max_bytes =
        std::min(max_image_bytes,
                 qcow2::max_l1_bytes / 8 * (rules.compressed_unit / 8) * rules.compressed_unit);
    std::string broken = broken_recipe_rule(recipe, rules, option_rules);
    return broken.empty() ? broken_volume(recipe) : broken;
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory, NeutralTools&) {
    qcow2::BuildOptions options;
    options.cluster_bits = static_cast<unsigned>(std::countr_zero(cluster_bytes(recipe)));
    options.lazy_refcounts = word_option(recipe, "lazy_refcounts", "off") == "on";
    options.compression = word_option(recipe, "compression_type", "zlib") == "zstd"
                              ? qcow2::Compression::zstd
                              : qcow2::Compression::zlib;
    if (recipe.backing) {
        options.backing_name = file_name_of(c, *recipe.backing);
        options.backing_format = format_of(c, *recipe.backing);
    }
    qcow2::build_image(options, *model_of(c, recipe.id), recipe.content, directory,
                       file_name(recipe.id, recipe.format));
}

std::vector<ForeignReference> references(const std::string& directory, const std::string& name) {
    qcow2::Header header;
    try {
        qcow2::read_header(File::open(directory, name), &header);
    } catch (const ImageError&) {
        // What was read up to there is in `header`: a broken image still leads tools astray.
    }
    std::vector<ForeignReference> found;
    if (!header.backing_name.empty()) {
        found.push_back({"backing", header.backing_name});
    }
    if (!header.data_file.empty()) {
        found.push_back({"data-file", header.data_file});
    }
    return found;
}

}  // namespace

Format qcow2_format() {
    Format format{};
    format.name = "qcow2";
    format.checkable = true;
    format.bytes_stable = true;
    format.backing = true;
    format.compression = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.built_in_process = true;
    format.open = qcow2::open_image;
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    return format;
}

}  // namespace difffuzz

#include "images/qed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "images/bytes.hpp"
#include "images/content_model.hpp"
#include "images/damage_tables.hpp"
#include "images/image_error.hpp"
#include "images/probed_backing.hpp"
#include "images/recipe_rules.hpp"
#include "images/two_level_image.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

// "QED Image File Format" (docs/interop/qed_spec of qemu); little-endian.
constexpr std::size_t header_bytes = 64;
constexpr std::uint32_t magic = 0x00444551;
constexpr std::size_t at_cluster_size = 4;
constexpr std::size_t at_table_size = 8;
constexpr std::size_t at_header_size = 12;  // clusters
constexpr std::size_t at_features = 16;
constexpr std::size_t at_l1_offset = 40;
constexpr std::size_t at_image_size = 48;
constexpr std::size_t at_backing_offset = 56;
constexpr std::size_t at_backing_size = 60;
constexpr std::uint64_t feature_backing = 1;
constexpr std::uint64_t feature_backing_is_raw = 4;
// Names longer than this are cut; qemu-img refuses them.
constexpr std::uint32_t max_backing_name = 4096;

constexpr std::uint64_t default_cluster_bytes = 65536;
constexpr std::uint64_t default_table_clusters = 4;

bool is_cluster_size(std::uint64_t bytes) {
    return std::has_single_bit(bytes) && bytes >= 4096 && bytes <= std::uint64_t{2} << 20;
}

bool is_table_size(std::uint64_t clusters) {
    return std::has_single_bit(clusters) && clusters >= 2 && clusters <= 16;
}

constexpr std::array<OptionRule, 2> option_rules{{
    {"cluster_size", [](const Scalar& value) { return is_cluster_size(scalar_number(value)); },
     "a power of two from 4K to 2M"},
    {"table_size", [](const Scalar& value) { return is_table_size(scalar_number(value)); },
     "2, 4, 8 or 16"},
}};

std::uint64_t cluster_bytes(const ImageRecipe& recipe) {
    return number_option(recipe, "cluster_size", default_cluster_bytes);
}

std::uint64_t table_clusters(const ImageRecipe& recipe) {
    return number_option(recipe, "table_size", default_table_clusters);
}

// The L1 table follows the header's cluster and is as large as an L2 table.
TwoLevelMapping mapping_of(std::uint64_t cluster, std::uint64_t table) {
    const std::uint64_t entries = cluster * table / 8;
    return {std::endian::little, cluster, cluster, entries, entries};
}

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

std::string validate(const ImageRecipe& recipe) {
    const std::uint64_t cluster = cluster_bytes(recipe);
    const std::uint64_t table = table_clusters(recipe);
    RecipeRules rules;
    rules.backing = true;
    // The options may still be wrong: the bounds are about those that make sense.
    const bool sound = is_cluster_size(cluster) && is_table_size(table);
    if (sound) {
        const TwoLevelMapping mapping = mapping_of(cluster, table);
        const std::uint64_t tables = std::min(mapping.l1_entries, max_image_bytes);
        rules.max_bytes = tables > max_image_bytes / mapping.l2_covers()
                              ? max_image_bytes
                              : tables * mapping.l2_covers();
    }
    std::string broken = broken_recipe_rule(recipe, rules, option_rules);
    return broken.empty() ? broken_block_volume(recipe, cluster) : broken;
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory, NeutralTools&) {
    const std::uint64_t cluster = cluster_bytes(recipe);
    const std::uint64_t table = table_clusters(recipe);
    const std::string backing = backing_name_for_probing(c, recipe);
    std::uint64_t features = 0;
    if (!backing.empty()) {
        features = feature_backing;
        features |= format_of(c, *recipe.backing) == "raw" ? feature_backing_is_raw : 0;
    }
    std::array<std::byte, header_bytes> header{};
    const auto put = [&](std::size_t at, std::uint64_t value) {
        store_le(header.data() + at, static_cast<std::uint32_t>(value));
    };
    put(0, magic);
    put(at_cluster_size, cluster);
    put(at_table_size, table);
    put(at_header_size, 1);
    store_le(header.data() + at_features, features);
    store_le(header.data() + at_l1_offset, cluster);
    store_le(header.data() + at_image_size, actual_size(recipe));
    put(at_backing_offset, backing.empty() ? 0 : header_bytes);
    put(at_backing_size, backing.size());

    const auto content = model_of(c, recipe.id);
    const File file = File::create(directory, file_name(recipe.id, recipe.format));
    SparseWriter out(file);
    out.put(0, header);
    out.put(header_bytes, std::as_bytes(std::span(backing)));
    const std::uint64_t end = write_two_level(
        mapping_of(cluster, table), cluster * (1 + table), zero_cluster,
        touched_blocks(recipe.content, cluster, actual_size(recipe)), *content, out);
    out.finish();
    file.resize(end);
}

struct Header {
    std::uint64_t cluster = 0;
    std::uint64_t table = 0;  // clusters
    std::uint64_t features = 0;
    std::uint64_t l1_offset = 0;
    std::uint64_t size = 0;
    std::string backing;  // empty: none
};

Header read_header(const File& file) {
    std::array<std::byte, header_bytes> bytes{};
    file.read_at(0, bytes);
    const auto small = [&](std::size_t at) { return load_le<std::uint32_t>(bytes.data() + at); };
    const auto large = [&](std::size_t at) { return load_le<std::uint64_t>(bytes.data() + at); };
    if (small(0) != magic) {
        throw ImageError(fmt::format("{}: is not a qed image", file.name()));
    }
    Header header{small(at_cluster_size), small(at_table_size), large(at_features),
                  large(at_l1_offset),    large(at_image_size), {}};
    if ((header.features & feature_backing) != 0) {
        header.backing = read_name(file, small(at_backing_offset),
                                   std::min(small(at_backing_size), max_backing_name));
    }
    return header;
}

std::unique_ptr<ContentSource> open(const std::string& directory, const std::string& name) {
    File file = File::open(directory, name);
    const Header header = read_header(file);
    // A file that was not closed properly must be checked before it is read.
    const bool known = (header.features & ~(feature_backing | feature_backing_is_raw)) == 0;
    if (!known || !is_cluster_size(header.cluster) || !is_table_size(header.table) ||
        header.size % sector_bytes != 0 || header.size > max_image_bytes ||
        header.l1_offset % header.cluster != 0) {
        throw ImageError(fmt::format("{}: is not a qed image that can be read in-process", name));
    }
    std::unique_ptr<ContentSource> backing;
    if ((header.features & feature_backing) != 0) {
        if ((header.features & feature_backing_is_raw) == 0 ||
            !stays_inside({"backing", header.backing})) {
            throw ImageError(fmt::format(
                "{}: its backing file is not a raw image of a plain name in the same directory",
                name));
        }
        backing = find_format("raw")->open(directory, header.backing);
    }
    TwoLevelMapping mapping = mapping_of(header.cluster, header.table);
    mapping.l1_offset = header.l1_offset;
    return std::make_unique<TwoLevelReader>(std::move(file), header.size, mapping, true,
                                            std::move(backing));
}

std::vector<ForeignReference> references(const std::string& directory, const std::string& name) {
    try {
        const Header header = read_header(File::open(directory, name));
        if (!header.backing.empty()) {
            return {{"backing", header.backing}};
        }
    } catch (const ImageError&) {
        // A file that cannot be read leads nowhere.
    }
    return {};
}

}  // namespace

Format qed_format() {
    Format format{};
    format.name = "qed";
    format.backing = true;
    format.checkable = true;
    format.bytes_stable = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.built_in_process = true;
    format.open = open;
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    format.damage = qed_damage();
    return format;
}

}  // namespace difffuzz

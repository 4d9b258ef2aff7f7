#include "images/qcow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

// "The QCOW Image Format" (M. McLoughlin 2006) and qemu's block/qcow.c; big-endian.
constexpr std::size_t header_bytes = 48;
constexpr std::uint32_t magic = 0x514649fb;
constexpr std::uint32_t version = 1;
constexpr std::size_t at_version = 4;
constexpr std::size_t at_backing_offset = 8;
constexpr std::size_t at_backing_size = 16;
constexpr std::size_t at_size = 24;
constexpr std::size_t at_cluster_bits = 32;
constexpr std::size_t at_l2_bits = 33;
constexpr std::size_t at_encryption = 36;
constexpr std::size_t at_l1_offset = 40;
// Names longer than this are cut; qemu-img refuses them.
constexpr std::uint32_t max_backing_name = 4096;

struct Bits {
    unsigned cluster = 12;
    unsigned l2 = 9;
};

Bits bits_of(const ImageRecipe& recipe) { return recipe.backing ? Bits{9, 12} : Bits{12, 9}; }

TwoLevelMapping mapping_of(Bits bits, std::uint64_t size, std::uint64_t l1_offset) {
    TwoLevelMapping mapping{std::endian::big, std::uint64_t{1} << bits.cluster, l1_offset, 0,
                            std::uint64_t{1} << bits.l2};
    mapping.l1_entries = divide_up(size, mapping.l2_covers());
    return mapping;
}

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

std::uint64_t cluster_bytes(const ImageRecipe& recipe) {
    return std::uint64_t{1} << bits_of(recipe).cluster;
}

std::string validate(const ImageRecipe& recipe) {
    if (recipe.size == 0) {
        return fmt::format("image {}: a qcow image cannot be empty", recipe.id);
    }
    RecipeRules rules;
    rules.backing = true;
    std::string broken = broken_recipe_rule(recipe, rules, {});
    return broken.empty()
               ? broken_block_volume(recipe, cluster_bytes(recipe), recipe.backing.has_value())
               : broken;
}

// Without zero blocks: they become data or nothing.
IntervalMap<BlockUse> allocated_blocks(const ImageRecipe& recipe) {
    const auto touched = touched_blocks(recipe.content, cluster_bytes(recipe), actual_size(recipe));
    IntervalMap<BlockUse> blocks;
    for (const auto& [begin, range] : touched.ranges()) {
        if (range.value == BlockUse::data || recipe.backing) {
            blocks.assign(begin, range.end, BlockUse::data);
        }
    }
    return blocks;
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory, NeutralTools&) {
    const Bits bits = bits_of(recipe);
    const std::string backing = backing_name_for_probing(c, recipe);
    const TwoLevelMapping mapping =
        mapping_of(bits, actual_size(recipe), round_up(header_bytes + backing.size(), 8));
    std::array<std::byte, header_bytes> header{};
    store_be(header.data(), magic);
    store_be(header.data() + at_version, version);
    if (!backing.empty()) {
        store_be(header.data() + at_backing_offset, std::uint64_t{header_bytes});
        store_be(header.data() + at_backing_size, static_cast<std::uint32_t>(backing.size()));
    }
    store_be(header.data() + at_size, actual_size(recipe));
    header[at_cluster_bits] = static_cast<std::byte>(bits.cluster);
    header[at_l2_bits] = static_cast<std::byte>(bits.l2);
    store_be(header.data() + at_l1_offset, mapping.l1_offset);

    const auto content = model_of(c, recipe.id);
    const File file = File::create(directory, file_name(recipe.id, recipe.format));
    SparseWriter out(file);
    out.put(0, header);
    out.put(header_bytes, std::as_bytes(std::span(backing)));
    const std::uint64_t l1_end = mapping.l1_offset + mapping.l1_entries * 8;
    const std::uint64_t tables = round_up(l1_end, mapping.cluster_bytes);
    const std::uint64_t end =
        write_two_level(mapping, tables, 0, allocated_blocks(recipe), *content, out);
    out.finish();
    file.resize(end == tables ? l1_end : end);
}

std::array<std::byte, header_bytes> read_header(const File& file) {
    std::array<std::byte, header_bytes> header{};
    file.read_at(0, header);
    if (load_be<std::uint32_t>(header.data()) != magic ||
        load_be<std::uint32_t>(header.data() + at_version) != version) {
        throw ImageError(fmt::format("{}: is not a qcow image of version 1", file.name()));
    }
    return header;
}

std::unique_ptr<ContentSource> open(const std::string& directory, const std::string& name) {
    File file = File::open(directory, name);
    const auto header = read_header(file);
    const Bits bits{std::to_integer<unsigned>(header[at_cluster_bits]),
                    std::to_integer<unsigned>(header[at_l2_bits])};
    const auto size = load_be<std::uint64_t>(header.data() + at_size);
    // The bounds are qemu-img's.
    if (load_be<std::uint64_t>(header.data() + at_backing_offset) != 0 ||
        load_be<std::uint32_t>(header.data() + at_encryption) != 0 || bits.cluster < 9 ||
        bits.cluster > 16 || bits.l2 < 6 || bits.l2 > 13 || size < 2 || size % sector_bytes != 0 ||
        size > max_image_bytes) {
        throw ImageError(fmt::format("{}: is not a qcow image that can be read in-process", name));
    }
    const TwoLevelMapping mapping =
        mapping_of(bits, size, load_be<std::uint64_t>(header.data() + at_l1_offset));
    return std::make_unique<TwoLevelReader>(std::move(file), size, mapping, false, nullptr);
}

std::vector<ForeignReference> references(const std::string& directory, const std::string& name) {
    std::string backing;
    try {
        const File file = File::open(directory, name);
        const auto header = read_header(file);
        const auto offset = load_be<std::uint64_t>(header.data() + at_backing_offset);
        const auto length = load_be<std::uint32_t>(header.data() + at_backing_size);
        if (offset != 0) {
            backing = read_name(file, offset, std::min(length, max_backing_name));
        }
    } catch (const ImageError&) {
        // A file that cannot be read leads nowhere.
    }
    if (backing.empty()) {
        return {};
    }
    return {{"backing", backing}};
}

}  // namespace

Format qcow_format() {
    Format format{};
    format.name = "qcow";
    format.backing = true;
    format.bytes_stable = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.built_in_process = true;
    format.open = open;
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    format.damage = qcow_damage();
    return format;
}

}  // namespace difffuzz

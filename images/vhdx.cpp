#include "images/vhdx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "images/bytes.hpp"
#include "images/damage_tables.hpp"
#include "images/image_error.hpp"
#include "images/neutral_build.hpp"
#include "images/recipe_hash.hpp"
#include "images/recipe_rules.hpp"
#include "images/touched_blocks.hpp"
#include "images/utf16.hpp"
#include "images/vhdx_layout.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;
// qemu-img writes the whole allocation table: 8 bytes for each block.
constexpr std::uint64_t max_blocks = std::uint64_t{1} << 17;
constexpr std::uint64_t max_fixed_bytes = 256 * mib;

bool is_block_size(std::uint64_t bytes) {
    return std::has_single_bit(bytes) && bytes >= mib && bytes <= 256 * mib;
}

constexpr std::array<OptionRule, 3> option_rules{{
    {"subformat",
     [](const Scalar& value) { return is_word(value, "dynamic") || is_word(value, "fixed"); },
     "dynamic or fixed"},
    {"block_size", [](const Scalar& value) { return is_block_size(scalar_number(value)); },
     "a power of two from 1M to 256M"},
    {"block_state_zero", is_on_or_off, "on or off"},
}};

bool is_fixed(const ImageRecipe& recipe) {
    return word_option(recipe, "subformat", "dynamic") == "fixed";
}

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

// Without the option, qemu-img takes one that suits the size.
std::uint64_t block_bytes(const ImageRecipe& recipe) {
    const std::uint64_t size = recipe.size;
    const std::uint64_t suited = size > 100 * gib ? 32 : size > gib ? 16 : 8;
    return number_option(recipe, "block_size", suited * mib);
}

std::string validate(const ImageRecipe& recipe) {
    if (recipe.size == 0) {
        return fmt::format("image {}: a vhdx image cannot be empty", recipe.id);
    }
    const std::uint64_t block = block_bytes(recipe);
    RecipeRules rules;
    // The option may still be wrong: the bound is about one that makes sense.
    if (is_block_size(block)) {
        rules.max_bytes = std::min(max_image_bytes, max_blocks * block);
    }
    if (is_fixed(recipe)) {
        rules.max_bytes = max_fixed_bytes;
    }
    std::string broken = broken_recipe_rule(recipe, rules, option_rules);
    return broken.empty() ? broken_block_volume(recipe, block) : broken;
}

using Header = std::array<std::byte, vhdx::header_bytes>;

std::uint64_t sequence_of(const Header& header) {
    return load_le<std::uint64_t>(header.data() + vhdx::at_sequence);
}

void put_guid(Header& header, std::size_t at, const Uuid& guid) {
    std::ranges::copy(guid, header.begin() + static_cast<std::ptrdiff_t>(at));
}

// What is left of entries in an empty log has no meaning, and a random GUID in it.
void clear_log(const File& file, const Header& header) {
    const Uuid none{};
    const auto length = load_le<std::uint32_t>(header.data() + vhdx::at_log_length);
    if (!std::ranges::equal(std::span(header).subspan(vhdx::at_log_guid, none.size()), none) ||
        length > 64 * mib) {
        throw ImageError(fmt::format("{}: qemu-img left a log in it", file.name()));
    }
    file.write_at(load_le<std::uint64_t>(header.data() + vhdx::at_log_offset),
                  std::vector<std::byte>(length));
}

// Random in what qemu-img makes: the sequence numbers and GUIDs of the headers, the disk's id
// ("page 83 data"), the log's GUID.
void canonicalise(const ImageRecipe& recipe, const std::string& directory) {
    const File file = File::open_for_update(directory, file_name(recipe.id, recipe.format));
    const RecipeHash hash = recipe_hash(recipe);
    std::array<Header, 2> headers{};
    for (std::size_t i = 0; i < 2; ++i) {
        file.read_at(vhdx::header_offsets[i], headers[i]);
    }
    const std::size_t active = sequence_of(headers[0]) > sequence_of(headers[1]) ? 0 : 1;
    clear_log(file, headers[active]);
    for (std::size_t i = 0; i < 2; ++i) {
        const bool is_active = i == active;
        put_guid(headers[i], vhdx::at_file_guid, recipe_guid(hash, 0));
        put_guid(headers[i], vhdx::at_data_guid, recipe_guid(hash, is_active ? 2 : 1));
        store_le(headers[i].data() + vhdx::at_sequence,
                 (hash.low & 0x7fffffffU) + (is_active ? 1 : 0));
        vhdx::put_checksum(headers[i]);
        file.write_at(vhdx::header_offsets[i], headers[i]);
    }
    const auto regions = vhdx::find_regions(file, vhdx::metadata_region);
    const auto item =
        regions.empty() ? std::nullopt : vhdx::find_item(file, regions[0], vhdx::page_83_item);
    if (!item) {
        throw ImageError(fmt::format("{}: qemu-img made a vhdx image without an id", file.name()));
    }
    file.write_at(item->offset, recipe_guid(hash, 3));
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory,
           NeutralTools& tools) {
    const std::string options =
        fmt::format("subformat={},block_size={},block_state_zero={}",
                    word_option(recipe, "subformat", "dynamic"), block_bytes(recipe),
                    word_option(recipe, "block_state_zero", "on"));
    build_by_convert(c, recipe, actual_size(recipe), options, directory, tools);
    canonicalise(recipe, directory);
}

// A parent locator is a list of keys and values in UTF-16, placed from the item's start.
void find_parents(const File& file, const vhdx::Area& item, std::vector<ForeignReference>& found) {
    constexpr std::size_t at_count = 18;
    constexpr std::size_t at_entries = 20;
    constexpr std::size_t entry_bytes = 12;
    std::vector<std::byte> bytes(std::min(item.length, mib));
    bytes.resize(file.read_at(item.offset, bytes));
    if (bytes.size() < at_entries) {
        return;
    }
    const auto text = [&](std::uint32_t offset, std::uint16_t length) {
        const std::span<const std::byte> all(bytes);
        const std::size_t begin = std::min<std::size_t>(offset, all.size());
        const std::size_t most = all.size() - begin;
        return from_utf16(all.subspan(begin, std::min<std::size_t>(length, most)), false);
    };
    const std::size_t count = std::min<std::size_t>(load_le<std::uint16_t>(bytes.data() + at_count),
                                                    (bytes.size() - at_entries) / entry_bytes);
    for (std::size_t i = 0; i < count; ++i) {
        const std::byte* entry = bytes.data() + at_entries + i * entry_bytes;
        const std::string key =
            text(load_le<std::uint32_t>(entry), load_le<std::uint16_t>(entry + 8));
        std::string value =
            text(load_le<std::uint32_t>(entry + 4), load_le<std::uint16_t>(entry + 10));
        // The other keys name the parent by its GUID.
        if (key.find("path") != std::string::npos && !value.empty()) {
            found.push_back({"parent", std::move(value)});
        }
    }
}

std::vector<ForeignReference> references(const std::string& directory, const std::string& name) {
    std::vector<ForeignReference> found;
    try {
        const File file = File::open(directory, name);
        for (const vhdx::Area& region : vhdx::find_regions(file, vhdx::metadata_region)) {
            if (const auto item = vhdx::find_item(file, region, vhdx::parent_locator_item)) {
                find_parents(file, *item, found);
            }
        }
    } catch (const ImageError&) {
        // A file that cannot be read leads nowhere.
    }
    return found;
}

}  // namespace

Format vhdx_format() {
    Format format{};
    format.name = "vhdx";
    format.checkable = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.open = nullptr;  // converted to raw instead
    format.references = references;
    format.cluster_bytes = block_bytes;
    format.damage = vhdx_damage();
    return format;
}

}  // namespace difffuzz

#include "images/vmdk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "images/bytes.hpp"
#include "images/damage_tables.hpp"
#include "images/file.hpp"
#include "images/image_error.hpp"
#include "images/neutral_build.hpp"
#include "images/recipe_hash.hpp"
#include "images/recipe_rules.hpp"
#include "images/touched_blocks.hpp"
#include "images/virtual_content.hpp"
#include "images/vmdk_descriptor.hpp"
#include "images/vmdk_reader.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t grain_bytes = 65536;
constexpr std::uint64_t extent_bytes = std::uint64_t{1} << 31;
constexpr std::uint64_t max_sparse_bytes = std::uint64_t{1} << 41;
// Keeps the number of files and what is copied of them small.
constexpr std::uint64_t max_other_bytes = std::uint64_t{16} << 30;

constexpr std::string_view sparse = "monolithicSparse";
constexpr std::string_view flat = "monolithicFlat";
constexpr std::string_view split_sparse = "twoGbMaxExtentSparse";
constexpr std::string_view split_flat = "twoGbMaxExtentFlat";
constexpr std::string_view stream = "streamOptimized";

bool is_flat(std::string_view subformat) { return subformat == flat || subformat == split_flat; }

bool is_any_of(const Scalar& value, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return is_word(value, word); });
}

// Spelt without leading zeros, as the descriptor repeats it.
bool is_hardware_version(const Scalar& value) {
    const auto* word = std::get_if<WordValue>(&value);
    if (word == nullptr) {
        return false;
    }
    unsigned number = 0;
    const char* end = word->text.data() + word->text.size();
    const auto parsed = std::from_chars(word->text.data(), end, number);
    return parsed.ec == std::errc() && parsed.ptr == end && number >= 1 && number <= 99 &&
           word->text.front() != '0';
}

constexpr std::array<OptionRule, 4> option_rules{{
    {"subformat",
     [](const Scalar& value) {
         return is_any_of(value, {sparse, flat, split_sparse, split_flat, stream});
     },
     "monolithicSparse, monolithicFlat, twoGbMaxExtentSparse, twoGbMaxExtentFlat or "
     "streamOptimized"},
    {"adapter_type",
     [](const Scalar& value) {
         return is_any_of(value, {"ide", "lsilogic", "buslogic", "legacyESX"});
     },
     "ide, lsilogic, buslogic or legacyESX"},
    {"hwversion", is_hardware_version, "a number from 1 to 99"},
    {"zeroed_grain", is_on_or_off, "on or off"},
}};

std::string_view subformat(const ImageRecipe& recipe) {
    return word_option(recipe, "subformat", sparse);
}

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

std::string validate(const ImageRecipe& recipe) {
    const bool is_sparse = subformat(recipe) == sparse;
    RecipeRules rules;
    rules.max_bytes = is_sparse ? max_sparse_bytes : max_other_bytes;
    rules.backing = is_sparse;
    std::string broken = broken_recipe_rule(recipe, rules, option_rules);
    if (!broken.empty()) {
        return broken;
    }
    if (!is_sparse && recipe.size == 0) {
        return fmt::format("image {}: a vmdk image of subformat {} cannot be empty", recipe.id,
                           subformat(recipe));
    }
    if (is_flat(subformat(recipe)) && word_option(recipe, "zeroed_grain", "off") == "on") {
        return fmt::format("image {}: a flat vmdk image has no grains that could be zeroed",
                           recipe.id);
    }
    return broken_block_volume(recipe, grain_bytes, recipe.backing.has_value());
}

std::vector<std::string> extra_files(const ImageRecipe& recipe) {
    const std::string_view kind = subformat(recipe);
    if (kind == flat) {
        return {recipe.id + "-flat.vmdk"};
    }
    std::vector<std::string> names;
    if (kind == split_sparse || kind == split_flat) {
        const std::uint64_t extents = divide_up(actual_size(recipe), extent_bytes);
        for (std::uint64_t number = 1; number <= extents; ++number) {
            names.push_back(fmt::format("{}-{}{:03}.vmdk", recipe.id,
                                        kind == split_sparse ? 's' : 'f', number));
        }
    }
    return names;
}

std::string creation_options(const ImageRecipe& recipe) {
    std::string options = fmt::format("subformat={}", subformat(recipe));
    for (const std::string_view name : {"adapter_type", "hwversion", "zeroed_grain"}) {
        if (const std::string_view word = word_option(recipe, name, {}); !word.empty()) {
            options += fmt::format(",{}={}", name, word);
        }
    }
    return options;
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory,
           NeutralTools& tools) {
    if (recipe.backing) {
        if (format_of(c, *recipe.backing) != "vmdk") {
            throw ImageError(
                fmt::format("image {}: only a vmdk image can back a vmdk image", recipe.id));
        }
        build_overlay_by_convert(c, recipe, creation_options(recipe), directory, tools);
    } else {
        build_by_convert(c, recipe, actual_size(recipe), creation_options(recipe), directory,
                         tools);
    }
    // The content id is random in what qemu-img makes; the two highest values mean "no parent" to
    // some readers.
    vmdk::replace_content_id(File::open_for_update(directory, file_name(recipe.id, recipe.format)),
                             static_cast<std::uint32_t>(recipe_hash(recipe).low % 0xfffffffe));
}

std::vector<ForeignReference> references(const std::string& directory, const std::string& name) {
    try {
        return vmdk::find_references(File::open(directory, name));
    } catch (const ImageError&) {
        // A file that cannot be read leads nowhere.
        return {};
    }
}

std::uint64_t cluster_bytes(const ImageRecipe& recipe) {
    return is_flat(subformat(recipe)) ? 0 : grain_bytes;
}

}  // namespace

Format vmdk_format() {
    Format format{};
    format.name = "vmdk";
    format.checkable = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.extra_files = extra_files;
    format.open = vmdk::open_image;
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    format.damage = vmdk_damage();
    return format;
}

}  // namespace difffuzz

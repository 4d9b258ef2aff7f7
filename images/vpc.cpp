#include "images/vpc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "images/bytes.hpp"
#include "images/damage_tables.hpp"
#include "images/file.hpp"
#include "images/image_error.hpp"
#include "images/neutral_build.hpp"
#include "images/recipe_hash.hpp"
#include "images/recipe_rules.hpp"
#include "images/utf16.hpp"
#include "images/virtual_content.hpp"
#include "images/vpc_layout.hpp"
#include "images/vpc_reader.hpp"

namespace difffuzz {
namespace {

using namespace vpc;

constexpr std::size_t at_parent_name = 64;  // UTF-16
constexpr std::size_t parent_name_bytes = 512;
constexpr std::size_t at_locators = 576;
constexpr std::size_t locators = 8;
constexpr std::size_t locator_bytes = 24;
constexpr std::uint32_t max_locator_bytes = 65536;
constexpr std::uint64_t block_bytes = std::uint64_t{2} << 20;
constexpr std::uint64_t max_dynamic_bytes = std::uint64_t{2040} << 30;
constexpr std::uint64_t max_fixed_bytes = std::uint64_t{16} << 30;

constexpr std::array<OptionRule, 2> option_rules{{
    {"subformat",
     [](const Scalar& value) { return is_word(value, "dynamic") || is_word(value, "fixed"); },
     "dynamic or fixed"},
    {"force_size", is_on_or_off, "on or off"},
}};

bool is_fixed(const ImageRecipe& recipe) {
    return word_option(recipe, "subformat", "dynamic") == "fixed";
}

std::uint64_t actual_size(const ImageRecipe& recipe) {
    const std::uint64_t sectors = divide_up(recipe.size, sector_bytes);
    const bool forced = word_option(recipe, "force_size", "off") == "on";
    return (forced ? sectors : vpc_sectors(sectors)) * sector_bytes;
}

std::string validate(const ImageRecipe& recipe) {
    RecipeRules rules;
    rules.max_bytes = is_fixed(recipe) ? max_fixed_bytes : max_dynamic_bytes;
    return broken_recipe_rule(recipe, rules, option_rules);
}

// Time stamp and UUID come from the recipe.
void write_canonical_footer(const File& file, std::uint64_t offset, const RecipeHash& hash) {
    Footer footer = read_footer(file, offset);
    if (!has_cookie(footer, footer_cookie)) {
        throw ImageError(fmt::format("{}: qemu-img made a vpc image without a footer at {}",
                                     file.name(), offset));
    }
    store_be(footer.data() + at_time_stamp, static_cast<std::uint32_t>(hash.low >> 32U));
    store_be(footer.data() + at_uuid, hash.high);
    store_be(footer.data() + at_uuid + 8, hash.low);
    // RFC 4122: version 4, variant 1.
    footer[at_uuid + 6] = (footer[at_uuid + 6] & std::byte{0x0f}) | std::byte{0x40};
    footer[at_uuid + 8] = (footer[at_uuid + 8] & std::byte{0x3f}) | std::byte{0x80};
    store_be(footer.data() + at_checksum, footer_checksum(footer));
    file.write_at(offset, footer);
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory,
           NeutralTools& tools) {
    const std::string options =
        fmt::format("subformat={},force_size={}", word_option(recipe, "subformat", "dynamic"),
                    word_option(recipe, "force_size", "off"));
    build_by_convert(c, recipe, round_up(recipe.size, sector_bytes), options, directory, tools);

    const File file = File::open_for_update(directory, file_name(recipe.id, recipe.format));
    const std::uint64_t size = file.size();
    if (size < footer_bytes) {
        throw ImageError(
            fmt::format("{}: qemu-img made a vpc image of {} bytes", file.name(), size));
    }
    const RecipeHash hash = recipe_hash(recipe);
    if (!is_fixed(recipe)) {
        write_canonical_footer(file, 0, hash);
    }
    write_canonical_footer(file, size - footer_bytes, hash);
}

// What the locator points to; the Windows ones are UTF-16, the others are taken as they are.
std::string locator_name(const File& file, std::span<const std::byte> locator) {
    const auto platform = load_be<std::uint32_t>(locator.data());
    const auto length = load_be<std::uint32_t>(locator.data() + 8);
    const auto offset = load_be<std::uint64_t>(locator.data() + 16);
    if (platform == 0 || offset >= file.size()) {
        return {};
    }
    std::vector<std::byte> bytes(std::min(length, max_locator_bytes));
    bytes.resize(file.read_at(offset, bytes));
    constexpr std::uint32_t windows = 0x5732;  // "W2": W2ru, W2ku
    if (platform >> 16U == windows) {
        return from_utf16(bytes, false);
    }
    std::string text(bytes.size(), '\0');
    std::ranges::transform(bytes, text.begin(),
                           [](std::byte b) { return std::to_integer<char>(b); });
    return text;
}

void find_parents(const File& file, std::uint64_t header_offset,
                  std::vector<ForeignReference>& found) {
    std::array<std::byte, header_bytes> header{};
    if (header_offset >= file.size() || file.read_at(header_offset, header) != header.size() ||
        !has_cookie(header, header_cookie)) {
        return;
    }
    const std::span<const std::byte> bytes(header);
    const auto add = [&](std::string name) {
        if (!name.empty()) {
            found.push_back({"parent", std::move(name)});
        }
    };
    add(from_utf16(bytes.subspan(at_parent_name, parent_name_bytes), true));
    for (std::size_t i = 0; i < locators; ++i) {
        add(locator_name(file, bytes.subspan(at_locators + i * locator_bytes, locator_bytes)));
    }
}

// Readers take the footer at the end, or its copy at the start when that one is broken: both count.
std::vector<ForeignReference> references(const std::string& directory, const std::string& name) {
    std::vector<ForeignReference> found;
    try {
        const File file = File::open(directory, name);
        const std::uint64_t size = file.size();
        std::vector<std::uint64_t> offsets{0};
        if (size > footer_bytes) {
            offsets.push_back(size - footer_bytes);
        }
        std::vector<std::uint64_t> headers;
        for (const std::uint64_t offset : offsets) {
            const Footer footer = read_footer(file, offset);
            const auto header = load_be<std::uint64_t>(footer.data() + at_header_offset);
            if (has_cookie(footer, footer_cookie) &&
                load_be<std::uint32_t>(footer.data() + at_disk_type) == type_differencing &&
                std::ranges::find(headers, header) == headers.end()) {
                headers.push_back(header);
                find_parents(file, header, found);
            }
        }
    } catch (const ImageError&) {
        // A file that cannot be read leads nowhere.
    }
    return found;
}

std::uint64_t cluster_bytes(const ImageRecipe& recipe) {
    return is_fixed(recipe) ? 0 : block_bytes;
}

}  // namespace

Format vpc_format() {
    Format format{};
    format.name = "vpc";
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.open = open_vpc_image;
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    format.damage = vpc_damage();
    return format;
}

}  // namespace difffuzz

// Rules that every image recipe obeys, and access to its creation options.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/cases/image_recipe.hpp"

namespace difffuzz {

// Bounds of what a recipe may ask for: recipes come from strangers, too.
inline constexpr std::uint64_t max_image_bytes = std::uint64_t{1} << 43;
inline constexpr std::uint64_t max_written_bytes = std::uint64_t{256} << 20;
inline constexpr std::size_t max_writes = 65536;
// Images that back one another, the first one included.
inline constexpr unsigned max_chain = 16;

// What a format makes of the rules common to all.
struct RecipeRules {
    std::uint64_t max_bytes = max_image_bytes;  // virtual size asked for
    bool backing = false;
    // Bytes that a compressed write covers whole; 0 where the format has no compression.
    std::uint64_t compressed_unit = 0;
    // Bytes that an unmap write covers whole; 0 where the format has none.
    std::uint64_t unmap_unit = 0;
    bool snapshots = false;
    bool bitmaps = false;
    // Writes end at the size asked for, rounded up to this.
    std::uint64_t size_unit = 512;
};

// One creation option that a format knows: its name, and whether a value is one that the builder
// can make. `expected` completes "option NAME must be ...".
struct OptionRule {
    std::string_view name;
    bool (*accepts)(const Scalar& value);
    std::string_view expected;
};

// Everything wrong with the recipe as far as these rules go, one sentence; empty if fine.
std::string broken_recipe_rule(const ImageRecipe& recipe, const RecipeRules& rules,
                               std::span<const OptionRule> options);

// The option's value: a size or number, or a word. `fallback` where it is absent or of another
// type (which broken_recipe_rule() reports).
std::uint64_t number_option(const ImageRecipe& recipe, std::string_view name,
                            std::uint64_t fallback);
std::string_view word_option(const ImageRecipe& recipe, std::string_view name,
                             std::string_view fallback);

// The number in a size or number value; 0 for anything else.
std::uint64_t scalar_number(const Scalar& value);
bool is_word(const Scalar& value, std::string_view word);
bool is_on_or_off(const Scalar& value);

}  // namespace difffuzz

// A number that stands for a recipe: what formats demand to be random is taken from it.
#pragma once

#include <cstdint>

#include "core/cases/image_recipe.hpp"

namespace difffuzz {

struct RecipeHash {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

// XXH3-128 over every member of the recipe, each with its length or kind in front, so that equal
// hashes mean equal recipes.
RecipeHash recipe_hash(const ImageRecipe& recipe);

}  // namespace difffuzz

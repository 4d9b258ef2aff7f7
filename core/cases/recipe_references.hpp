// What holds between the parts of a recipe.
#pragma once

#include "core/cases/case.hpp"

namespace difffuzz {

// Throws RecipeError (pointer and reason) where an id is used twice, a backing file is no earlier
// image, an argument names an image that the case lacks, or all images together bring more data
// than RecipeLimits::content_bytes.
void require_references(const Case& c);

}  // namespace difffuzz

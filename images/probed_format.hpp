// Images that are opened without naming their format.
#pragma once

#include "core/cases/image_recipe.hpp"

namespace difffuzz {

// Whether qemu-img tells the image's format from its first bytes. A fixed vpc has its signature at
// its end only and is taken for raw, a sector longer.
bool shows_its_format(const ImageRecipe& image);

}  // namespace difffuzz

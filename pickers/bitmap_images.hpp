// Dirty bitmaps that input images have from the start.
#pragma once

#include <string>
#include <vector>

#include "core/cases/draws.hpp"
#include "core/cases/image_recipe.hpp"

namespace difffuzz {

// Names to draw from: plain ones, one like a number, one with a separator of options, one beyond
// ASCII, long ones. The first three are short.
const std::vector<std::string>& bitmap_names();

// With `percent` per cent gives an image without bitmaps one to three, as far as its format takes
// them: enabled and not, of several granularities, some with something dirty.
void draw_bitmaps(const Draws& draws, unsigned percent, ImageRecipe& image);

}  // namespace difffuzz

// Creation options and features of input images, format by format.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cases/draws.hpp"
#include "core/cases/image_recipe.hpp"
#include "core/cases/plan.hpp"

namespace difffuzz {

// How much of what a format knows may be drawn.
enum class ImageVariety {
    plain,    // the cluster size alone
    options,  // and options that change nothing about what can be done with the image
    every,  // and versions, widths, subformats, a data file, snapshots, bitmaps, unmapped clusters
};

// The options of an image of `image.format`, in place of those it has.
void draw_image_options(ImageRecipe& image, const Draws& draws, const Plan& plan,
                        ImageVariety variety);

// The largest virtual size, bytes, at which the image stays cheap to build and to walk; its options
// are drawn.
std::uint64_t largest_cheap_size(const ImageRecipe& image);

// Snapshots, bitmaps and unmapped clusters of an image that is complete but for them.
void draw_image_features(ImageRecipe& image, const Draws& draws);

// Takes from the image what its format cannot have together, until it can be built.
void settle_features(ImageRecipe& image);

// Names for snapshots and bitmaps: plain, numbers, with blanks, not ASCII, very long.
std::string draw_name(const Draws& draws);

}  // namespace difffuzz

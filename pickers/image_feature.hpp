// What an input image can have beyond its format: one row each, so that it can be wished for, found
// in a case, and taken away again.
#pragma once

#include <span>
#include <string_view>

#include "core/cases/image_recipe.hpp"

namespace difffuzz {

struct ImageFeature {
    std::string_view name;
    // Formats that can have it; empty: every one.
    std::span<const std::string_view> formats;
    // Ends of the draws' paths that decide about it (DrawWish::paths); may be empty.
    std::span<const std::string_view> paths;
    bool (*has)(const ImageRecipe& image);
    // The image without it, as like as can be. For an image that has it.
    void (*drop)(ImageRecipe& image);
    // Options of commands that stand only where an image has it.
    std::span<const std::string_view> options = {};
};

// All features, in a fixed order. Creation options of input images are features of their own name.
std::span<const ImageFeature> image_features();

}  // namespace difffuzz

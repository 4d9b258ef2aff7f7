#include "images/probed_format.hpp"

#include "images/recipe_rules.hpp"

namespace difffuzz {

bool shows_its_format(const ImageRecipe& image) {
    return image.format != "vpc" || word_option(image, "subformat", "dynamic") != "fixed";
}

}  // namespace difffuzz

// Draws of `convert_existing`: copies of images into one that is there already (-n).
#pragma once

#include <cstdint>

#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& convert_existing_picker();

// The image that the case's last step writes to; null where it names none that exists.
const ImageRecipe* existing_target(const Case& c);

}  // namespace difffuzz

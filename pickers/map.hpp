// Draws of `map`: which parts of an image are allocated, and where.
#pragma once

#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& map_picker();

}  // namespace difffuzz

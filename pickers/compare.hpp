// Draws of `compare`: two images whose contents are equal, nearly equal, or not.
#pragma once

#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& compare_picker();

}  // namespace difffuzz

// Draws of `check`: whether an image is sound, without repairing it.
#pragma once

#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& check_picker();

}  // namespace difffuzz

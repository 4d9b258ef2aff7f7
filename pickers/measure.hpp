// Draws of `measure`: how large a file an image would need.
#pragma once

#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& measure_picker();

}  // namespace difffuzz

// Draws of `info`: what a tool says about an image.
#pragma once

#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& info_picker();

}  // namespace difffuzz

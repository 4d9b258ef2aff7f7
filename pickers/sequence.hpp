// Sequences: 2 to 12 steps of all kinds on one evolving image and its chain.
#pragma once

#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& sequence_picker();

}  // namespace difffuzz

// "qemu-img check -r": what is wrong with an image's structure is put right, or only its leaks are.
#pragma once

#include "pickers/step_kind.hpp"

namespace difffuzz {

// On sound images: nothing is to be repaired.
const StepKind& repair_kind();
// Most of its cases are damaged (pickers/repair_damage.hpp).
const Picker& repair_picker();

}  // namespace difffuzz

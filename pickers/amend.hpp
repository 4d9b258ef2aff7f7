// "qemu-img amend": options of a qcow2 image are changed in place.
#pragma once

#include "pickers/step_kind.hpp"

namespace difffuzz {

const StepKind& amend_kind();
const Picker& amend_picker();

}  // namespace difffuzz

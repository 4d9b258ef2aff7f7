// "qemu-img rebase": an image gets another backing file, or none; safely, so that what is read
// stays the same, or not.
#pragma once

#include "pickers/step_kind.hpp"

namespace difffuzz {

const StepKind& rebase_kind();
const Picker& rebase_picker();

}  // namespace difffuzz

// "qemu-img commit": what an image holds goes into its backing file, or into one further down.
#pragma once

#include "pickers/step_kind.hpp"

namespace difffuzz {

const StepKind& commit_kind();
const Picker& commit_picker();

}  // namespace difffuzz

// "qemu-img snapshot": internal snapshots are made, applied, deleted and listed, with writes
// between.
#pragma once

#include "pickers/step_kind.hpp"

namespace difffuzz {

const StepKind& snapshot_kind();
const Picker& snapshot_picker();

}  // namespace difffuzz

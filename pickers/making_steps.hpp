// Steps that make a further image out of those of the case, for sequences.
#pragma once

#include "pickers/step_kind.hpp"

namespace difffuzz {

// "create": a qcow2 or qed image on one of the case, or an empty one.
const StepKind& overlay_kind();
// "convert": a flat copy of an image that nothing lies on, or of one of its snapshots.
const StepKind& copy_kind();

}  // namespace difffuzz

// Neutral steps that write to an image between the steps of the tools, by the reference's qemu-io:
// the same bytes on both sides.
#pragma once

#include "pickers/step_kind.hpp"

namespace difffuzz {

// "write": data, zeros, zeros without allocation. Draws nothing where the plan lacks the feature
// "io", and never writes to an image that others are based on.
const StepKind& write_kind();
// "discard", of version 3 qcow2 images, where what is discarded reads as zeros.
const StepKind& discard_kind();

// Ids of images that may be written to: not anybody's backing file.
std::vector<std::string> top_images(const CaseState& state);

}  // namespace difffuzz

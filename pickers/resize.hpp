// "qemu-img resize": an image grows or shrinks, in one or several steps.
#pragma once

#include "pickers/step_kind.hpp"

namespace difffuzz {

const StepKind& resize_kind();
const Picker& resize_picker();

// The virtual size that the step asks for, bytes; nothing when it asks for none that is positive.
// `before` is the size that "+N" and "-N" count from.
std::optional<std::uint64_t> resized_to(const Step& step, std::uint64_t before);

}  // namespace difffuzz

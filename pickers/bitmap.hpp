// "qemu-img bitmap": dirty bitmaps that are added, removed, cleared, enabled, disabled and merged,
// in one or several steps, with writes between them.
#pragma once

#include "pickers/step_kind.hpp"

namespace difffuzz {

const StepKind& bitmap_kind();
// The kinds of steps that a case of this operation is made of.
StepKinds bitmap_kinds();
const Picker& bitmap_picker();

// Rules that bound the envelope (bitmap_rules.cpp).
std::span<const Rule> bitmap_rules();

}  // namespace difffuzz

// Damaged input images: any operation's valid case with a few fields of its images spoilt.
#pragma once

#include "pickers/picker.hpp"

namespace difffuzz {

// Spoils an image of the valid case `c` and marks the tools' steps as damaged. False, with the case
// as it was, when the case has no image that could be spoilt.
bool damage_case(Case& c, const Draws& draws);

// Marks the tools' steps of a case as damaged.
void mark_damaged(Case& c);

}  // namespace difffuzz

// Images that are opened with a secret: luks.
#pragma once

#include <string>

#include "pickers/picker.hpp"

namespace difffuzz {

// Now and then turns an image that the case's steps read into a luks image, and has the steps make
// its secret and name images by driver. Few cases: at most 1 % of a campaign's, since every tool
// opens them in the same code.
void lock_an_image(Case& c, const Picker& picker, const PickContext& context);

// The id of a locked image that a step of the tools names without the means to open it; empty if
// there is none.
std::string image_without_key(const Case& c);

}  // namespace difffuzz

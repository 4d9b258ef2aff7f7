// "qemu-img dd": a part of an image, block by block, into a new one.
#pragma once

#include <string>

#include "pickers/dd_window.hpp"
#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& dd_picker();

// Id of the image that the step reads; empty when it names none.
std::string dd_source(const Step& step);
// The part of it that the case's last step reads; nothing where it names no image that exists, or
// numbers that are none.
std::optional<DdWindow> dd_window(const Case& c);

}  // namespace difffuzz

// vhdx (Hyper-V) images: built by qemu-img, canonicalised here.
#pragma once

#include "images/format.hpp"

namespace difffuzz {

// Options of a recipe: subformat=dynamic|fixed, block_size (a power of two from 1M to 256M),
// block_state_zero=on|off. Fixed images are small.
Format vhdx_format();

}  // namespace difffuzz

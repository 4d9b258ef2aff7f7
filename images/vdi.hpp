// vdi (VirtualBox) images: built and read in-process.
#pragma once

#include "images/format.hpp"

namespace difffuzz {

// Options of a recipe: static=on|off. Blocks have 1 MiB. Touched blocks are allocated in ascending
// order; blocks that a zero write covers are marked as discarded; a static image has them all.
Format vdi_format();

}  // namespace difffuzz

// parallels images: built and read in-process.
#pragma once

#include "images/format.hpp"

namespace difffuzz {

// Options of a recipe: cluster_size (a power of two from 4K to 16M). There is no zero cluster: one
// that a zero write covers is not allocated.
Format parallels_format();

}  // namespace difffuzz

// qed images: built and read in-process.
#pragma once

#include "images/format.hpp"

namespace difffuzz {

// Options of a recipe: cluster_size (a power of two from 4K to 2M), table_size (a power of two from
// 2 to 16, clusters; qemu-img makes 1, too, and cannot open it). A backing image's format is not
// recorded, only whether it is raw: otherwise readers find it out by looking.
Format qed_format();

}  // namespace difffuzz

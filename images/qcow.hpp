// qcow images, version 1: built and read in-process.
#pragma once

#include "images/format.hpp"

namespace difffuzz {

// No options. As qemu-img makes them, clusters have 4 KiB, in an image with a backing file 512
// bytes. The backing image's format is not recorded: readers find it out by looking. There is no
// zero cluster: a zero write allocates where a backing file would show through, else its clusters
// are not allocated.
Format qcow_format();

}  // namespace difffuzz

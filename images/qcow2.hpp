// qcow2 images: built and read in-process.
#pragma once

#include "images/format.hpp"

namespace difffuzz {

// Options of a recipe: cluster_size (512 bytes to 2 MiB, a power of two), compat=1.1,
// refcount_bits=16, lazy_refcounts=on|off, compression_type=zlib|zstd.
Format qcow2_format();

}  // namespace difffuzz

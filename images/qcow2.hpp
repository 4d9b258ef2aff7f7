// qcow2 images: built and read in-process.
#pragma once

#include "images/format.hpp"

namespace difffuzz {

// Options of a recipe: cluster_size (512 bytes to 2 MiB, a power of two), compat=0.10|1.1|v2|v3,
// refcount_bits (1 to 64, a power of two), lazy_refcounts=on|off, compression_type=zlib|zstd,
// extended_l2=on|off (clusters of 16 KiB or more), data_file=ID.data, data_file_raw=on|off. Which
// of them, of the kinds of writes, snapshots and bitmaps go together is as in qemu-img.
Format qcow2_format();

}  // namespace difffuzz

// vmdk images (monolithicSparse): built by qemu-img, canonicalised here.
#pragma once

#include "images/format.hpp"

namespace difffuzz {

// Options of a recipe: subformat=monolithicSparse.
Format vmdk_format();

}  // namespace difffuzz

// vmdk images: built by qemu-img, canonicalised here.
#pragma once

#include "images/format.hpp"

namespace difffuzz {

// Options of a recipe: subformat (the five of qemu-img), adapter_type, hwversion, zeroed_grain. An
// image of subformat monolithicSparse may have a backing image, which is a vmdk image, too. Every
// subformat whose data is not in the main file makes further files: ID-flat.vmdk, or one for each
// 2 GiB, ID-s001.vmdk (sparse) or ID-f001.vmdk (flat).
Format vmdk_format();

}  // namespace difffuzz

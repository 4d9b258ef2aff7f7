// vpc (VHD) images: built by qemu-img, canonicalised here; fixed ones are small.
#pragma once

#include <cstdint>

#include "images/format.hpp"

namespace difffuzz {

// Options of a recipe: subformat=dynamic|fixed, force_size=on|off.
Format vpc_format();

// Sectors of the smallest disk geometry that holds `sectors` and that qemu-img finds: it computes
// the geometry of sectors, sectors + 1, ... until one is large enough. If that is the largest that
// a geometry can say (65535 x 16 x 255), or none is, the size stays as it is. (CHS calculation:
// "Virtual Hard Disk Image Format Specification 1.0", appendix.)
std::uint64_t vpc_sectors(std::uint64_t sectors);

}  // namespace difffuzz

// UTF-16 names in image metadata, for looking at, not for opening.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace difffuzz {

// UTF-8 of the units up to the first zero. A surrogate stays on its own: such names are only held
// against what is plain ASCII.
std::string from_utf16(std::span<const std::byte> bytes, bool big_endian);

}  // namespace difffuzz

// Spellings of a size on the command line beyond the plain ones.
#pragma once

#include <cstdint>

#include "core/cases/draws.hpp"
#include "core/cases/value.hpp"

namespace difffuzz {

// A spelling that qemu-img 7.2 reads as exactly `bytes`: decimal, hexadecimal, binary suffixes in
// both cases, exact fractions ("1.5M", "0.125G"), a byte suffix, a sign or zeros in front. Rarely
// one that later versions refuse on purpose: hexadecimal with a suffix.
SizeValue draw_any_spelling(const Draws& draws, std::uint64_t bytes);

}  // namespace difffuzz

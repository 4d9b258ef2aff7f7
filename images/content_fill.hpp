// The bytes of a write: a pure function of its fill and the offset within the write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/cases/image_recipe.hpp"

namespace difffuzz {

// Bytes [offset, offset + bytes.size()) of an endless write of `fill`.
// RandomFill: little-endian words splitmix64(seed + golden * word_index); RepeatFill: the first
// `period` bytes of RandomFill(seed), repeated. (splitmix64: Steele, Lea, Flood 2014.)
void fill_bytes(const Fill& fill, std::uint64_t offset, std::span<std::byte> bytes);

}  // namespace difffuzz

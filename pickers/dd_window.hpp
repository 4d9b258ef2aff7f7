// Which part of its input a dd reads: block size, skip and count, and what qemu-img makes of them.
#pragma once

#include <cstdint>
#include <optional>

#include "core/cases/case.hpp"
#include "core/cases/draws.hpp"

namespace difffuzz {

// Bytes; what applies where bs= is absent, and the most that it may be.
inline constexpr std::uint64_t dd_default_block = 512;
inline constexpr std::uint64_t dd_max_block = 2147483647;

// What a dd may do at most: each block is a request of its own, and takes 0.1 ms.
inline constexpr std::uint64_t dd_max_bytes = std::uint64_t{4} << 20;
inline constexpr std::uint64_t dd_max_blocks = 4000;

// The operands, where they are given. Blocks are of `block` bytes.
struct DdNumbers {
    std::optional<std::uint64_t> block;  // 1..dd_max_block
    std::optional<std::uint64_t> skip;   // blocks
    std::optional<std::uint64_t> count;  // blocks
    bool operator==(const DdNumbers&) const = default;
};
DdNumbers dd_numbers(const Step& step);

struct DdWindow {
    std::uint64_t offset = 0;  // in the input, bytes
    std::uint64_t length = 0;  // bytes
    std::uint64_t blocks = 0;  // requests that it takes
    bool operator==(const DdWindow&) const = default;
};
// Of an input of `size` bytes. The count limits where the window ends, not how long it is: blocks
// that are skipped count (measured on qemu-img 5.2, 7.2 and 10.0; dd(1) counts behind the skip).
// Empty where it begins at or past its end.
DdWindow dd_window(const DdNumbers& numbers, std::uint64_t size);

// Numbers for an input of `size` bytes, whose window stays within the limits above and, where
// `may_be_empty` is not set, holds something. `size` is at least 1.
DdNumbers draw_dd_numbers(const Draws& draws, std::uint64_t size, bool may_be_empty);

}  // namespace difffuzz

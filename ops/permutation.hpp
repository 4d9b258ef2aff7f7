// A permutation of the numbers below a size, without a table.
#pragma once

#include <cstdint>

namespace difffuzz {

// Where `index` (below `size`) goes in the permutation that `key` stands for. Steps: a Feistel
// network of four rounds over the smallest even number of bits that holds `size` numbers, applied
// again while the result is not below `size`.
std::uint64_t permuted(std::uint64_t index, std::uint64_t size, std::uint64_t key);

}  // namespace difffuzz

// Which cases of a campaign run again.
#pragma once

#include <cstdint>
#include <string_view>

#include "campaign/execution/perturbation.hpp"

namespace difffuzz {

// How much of a campaign runs again, and how it is called on the command line.
enum class Determinism { off, sample, all };
std::string_view to_string(Determinism determinism);
// Throws UsageError naming the flag.
Determinism parse_determinism(std::string_view word);

// Of a sample, one case in this many; of those that run again, one in so many waits for a later
// second.
inline constexpr std::uint64_t sampled_one_in = 16;
inline constexpr std::uint64_t later_one_in = 8;

// Pure: depends on the index alone, so that it is the same for any order and number of workers.
Again again_of(Determinism determinism, std::uint64_t index);

}  // namespace difffuzz

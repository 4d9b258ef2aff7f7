// How the files of a corpus are named.
#pragma once

#include <cstddef>
#include <string>

#include "tests/fuzz/target.hpp"

namespace difffuzz::fuzz {

// Made seeds are numbered from 0 on; what campaigns found, from here on.
inline constexpr std::size_t first_find = 900;

// "seed-007".
inline std::string seed_file(std::size_t index) {
    const std::string digits = std::to_string(index);
    return "seed-" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

}  // namespace difffuzz::fuzz

// What the seeds of several targets are made by.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/target.hpp"

namespace difffuzz::fuzz {

// The first 0, 1, … below `count` bytes of a valid input, each of which is refused.
// `valid` is a copy, since it may be that of a seed among them.
void add_prefixes(std::vector<Seed>& seeds, std::string valid, std::size_t count);

// `text` with the first `from` replaced, which must be there.
std::string with(std::string text, std::string_view from, std::string_view to);

std::string repeated(std::size_t count, char character);

}  // namespace difffuzz::fuzz

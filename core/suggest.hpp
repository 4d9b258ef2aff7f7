// "did you mean": the nearest of the known words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace difffuzz {

// ", did you mean 'x'?" for the known word at the least edit distance (at most 3 and less than the
// word's length), or an empty string.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace difffuzz

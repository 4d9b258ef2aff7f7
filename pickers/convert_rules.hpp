// The rules of the operations that convert.
#pragma once

#include <vector>

#include "pickers/picker.hpp"

namespace difffuzz {

// Those about sources and about options that do not depend on the target.
std::vector<Rule> common_convert_rules();

// All of `convert` and `convert_compressed`, which make their target.
std::vector<Rule> convert_rules(bool compressed);

}  // namespace difffuzz

#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// What a repair that says it succeeded leaves must be clean, and its data as it was where the
// damage did not touch them.
const Operation& repair_operation();

}  // namespace difffuzz

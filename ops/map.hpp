#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `map`: which parts of an image are allocated, and where.
const Operation& map_operation();

}  // namespace difffuzz

#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `create`: a new image, empty or on top of another one.
const Operation& create_operation();

}  // namespace difffuzz

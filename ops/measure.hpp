#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `measure`: how large a file an image would need.
const Operation& measure_operation();

}  // namespace difffuzz

#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `convert_existing`: copies images into one that is there already.
const Operation& convert_existing_operation();

}  // namespace difffuzz

#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `compare`: whether two images hold the same.
const Operation& compare_operation();

}  // namespace difffuzz

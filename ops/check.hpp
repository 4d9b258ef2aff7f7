#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `check`: whether an image is sound.
const Operation& check_operation();

}  // namespace difffuzz

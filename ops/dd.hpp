#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `dd`: copies a part of an image into a new one.
const Operation& dd_operation();

}  // namespace difffuzz

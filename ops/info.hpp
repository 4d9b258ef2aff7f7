#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `info`: what a tool says about an image.
const Operation& info_operation();

}  // namespace difffuzz

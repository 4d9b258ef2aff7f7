#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `bitmap`: dirty bitmaps of qcow2 images.
const Operation& bitmap_operation();

}  // namespace difffuzz

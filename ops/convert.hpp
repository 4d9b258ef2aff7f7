#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `convert`: copies images into a new one, never compressed.
const Operation& convert_operation();
// `convert_compressed`: the same, always compressed.
const Operation& convert_compressed_operation();

}  // namespace difffuzz

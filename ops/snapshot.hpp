#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

const Operation& snapshot_operation();

}  // namespace difffuzz

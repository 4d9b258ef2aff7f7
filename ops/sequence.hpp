#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

const Operation& sequence_operation();

}  // namespace difffuzz

#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

const Operation& resize_operation();

}  // namespace difffuzz

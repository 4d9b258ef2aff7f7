#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

const Operation& amend_operation();

}  // namespace difffuzz

#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

const Operation& rebase_operation();

}  // namespace difffuzz

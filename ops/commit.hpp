#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

const Operation& commit_operation();

}  // namespace difffuzz

#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// `bench`: timed reads or writes of a linear run of requests.
const Operation& bench_operation();

}  // namespace difffuzz

// The stand-in with planted faults: where it is, and what it can plant.
#pragma once

#include <string>
#include <vector>

#include "campaign/planted_fault.hpp"

namespace difffuzz {

// libexec/difffuzz/difffuzz-canary beside the directory of the running program. EnvironmentError
// when it is not there.
std::string find_canary();

// Its table (apps/canary/faults.cpp).
std::vector<PlantedFault> planted_faults();

}  // namespace difffuzz

// The controls that come before a campaign's cases: is a clean run worth anything?
#pragma once

#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/workers/pool.hpp"

namespace difffuzz {

struct ControlReport {
    std::vector<ControlResult> results;
    std::vector<std::string> unavailable;  // operations that a tool does not have
    std::vector<std::string> failures;     // sentences; any: no verdict
};

// Null control (the reference against itself on cases of its own) and liveness (each tool does a
// simple case of each operation). Throws EnvironmentError when a tool fails every operation.
ControlReport run_controls(WorkerPool& pool, const Plan& plan, std::uint64_t seed);

}  // namespace difffuzz

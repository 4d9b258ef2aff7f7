// The controls that come before a campaign's cases: is a clean run worth anything?
#pragma once

#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/workers/pool.hpp"

namespace difffuzz {

struct ControlReport {
    std::vector<ControlResult> results;
    std::vector<UnavailableOperation> unavailable;
    std::vector<std::string> failures;  // sentences; any: no verdict
};

// Liveness (each tool is asked for a simple case of each operation; one that it refuses every time
// is unavailable, and a crash, a timeout or a limit says nothing about that) and the null control
// (the reference against itself on cases of its own). Throws EnvironmentError, in the tool's own
// words, when a tool has none of the operations. Empty when the pool was stopped meanwhile: what
// was interrupted shows nothing. Last the positive control: one of `faults`, planted by the tool
// "canary" of the sandbox, is found and typed right.
ControlReport run_controls(WorkerPool& pool, const Plan& plan, std::uint64_t seed,
                           const std::vector<PlantedFault>& faults);

}  // namespace difffuzz

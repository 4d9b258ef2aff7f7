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
    // What the reference did not repeat in its second runs: names by varying_name(), sorted.
    std::vector<std::string> reference_varies;
};

// Liveness (each tool is asked for a simple case of each operation; one that it refuses every time
// is unavailable, and a crash, a timeout or a limit says nothing about that) and the null control
// (the reference against itself on cases of its own). Throws EnvironmentError, in the tool's own
// words, when a tool has none of the operations. Empty when the pool was stopped meanwhile: what
// was interrupted shows nothing. Last the positive control: one of `faults`, planted by the tool
// "canary" of the sandbox, is found and typed right.
//
// With `again` the reference does its cases of the null control and a simple case of each operation
// twice: what it does not repeat is not to be asked of the subject.
ControlReport run_controls(WorkerPool& pool, const Plan& plan, std::uint64_t seed,
                           const std::vector<PlantedFault>& faults, bool again);

}  // namespace difffuzz

// The kill matrix: does every oracle layer see the faults that are planted for it?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/planted_fault.hpp"
#include "core/cases/case.hpp"

namespace difffuzz {

enum class FaultResult {
    caught,           // its layer was the first to diverge
    caught_late,      // another layer was
    missed,           // it was planted, and no layer diverged
    never_triggered,  // no case made the stand-in plant it
    timeout,          // it was not planted, and a tool timed out
    unfinished,       // its cases ended our own workers
};
std::string_view to_string(FaultResult result);

struct FaultRow {
    PlantedFault fault;
    FaultResult result = FaultResult::never_triggered;
    std::vector<LayerId> diverged;  // in the case that decided, in their order; the first counts
    std::uint64_t cases = 0;        // that were run
    std::optional<Case> decisive;   // the case that a layer diverged in
};

// A case that no layer is asked about, and what must become of it.
struct GateRow {
    std::string name;
    Terminal expected = Terminal::untested;
    Terminal seen = Terminal::untested;
    bool holds() const { return expected == seen; }
};

struct SelftestOptions {
    // Program, reference, stand-in (`canary`), faults, seed, jobs, limits, ...; the rest is unused.
    CampaignOptions campaign;
    // Only each fault's exhibit; else drawn cases of its operation, up to its budget.
    bool exhibits = false;
    // Each fault as if no operation had the layer that it is meant for: what is caught then,
    // another layer sees, too.
    bool without_own_layer = false;
    // Whether the gates are asked, too.
    bool gates = true;
    // An empty directory for a program that cannot be started, and for the workers.
    std::string scratch;
};

struct SelftestResult {
    std::uint64_t faultless_cases = 0;
    std::vector<std::string> faultless_failures;  // sentences; any: nothing else was run
    std::vector<GateRow> gates;
    std::vector<FaultRow> rows;  // in the order of the faults

    bool all_caught() const;
    bool finished() const;
};

// Steps: the stand-in without a fault, on every exhibit and (without `exhibits`) on drawn cases of
// each operation, must agree with the tool that it stands in for; the gates; every fault. A
// divergence counts only in a case in which the fault was planted, and not if the reference alone
// or the model is to blame for it. Throws EnvironmentError.
SelftestResult run_selftest(const SelftestOptions& options,
                            const std::function<void(const FaultRow&)>& decided);

}  // namespace difffuzz

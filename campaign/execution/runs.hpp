// What the first and the second run of a case share: layers' verdicts over all steps, and what two
// workspaces have to be alike in.
#pragma once

#include <vector>

#include "ops/operation.hpp"
#include "oracles/observation.hpp"

namespace difffuzz {

// Keeps, per layer, the strongest verdict of all steps: diverge, agree, inconclusive, not
// applicable. `needed` of all of them is kept.
void merge_layers(std::vector<LayerReport>& into, std::vector<LayerReport> reports);

// What a damaged case is like but for the damage: what its steps may change and what there is to
// look at afterwards.
Case as_meant(Case c);

// Whether both workspaces hold the same files with the same bytes.
bool same_bytes(const StepObservation& one, const StepObservation& other);

// What our readers find depends on nothing but the bytes of the workspace.
bool depends_on_bytes_alone(InspectionKind kind);

}  // namespace difffuzz

// The second run of a case that both tools agreed on: whether the subject repeats itself.
#pragma once

#include <string>
#include <vector>

#include "campaign/execution/case_result.hpp"
#include "campaign/execution/perturbation.hpp"
#include "campaign/execution/step_run.hpp"

namespace difffuzz {

struct SecondRun {
    Again again = Again::no;
    // What the reference does not keep from run to run: names by varying_name().
    std::vector<std::string> reference_varies = {};
};

// Runs the steps that `result` has once more by the subject, in Sandbox::again_side and perturbed,
// and asks the layer `determinism` about each. Where the subject differs, the reference runs again
// likewise, unless it is the subject: what it does not repeat itself is no fault of the subject.
// Merges the layer's verdicts into `result`; a divergence takes the place of one that comes later
// in the order of steps and layers. The images that were built must still be there.
void run_again(Sandbox& sandbox, StepRunner& runner, const Case& c, const Operation& operation,
               const SandboxTool& subject, const SandboxTool& reference, const Limits& limits,
               const SecondRun& how, CaseResult& result);

}  // namespace difffuzz

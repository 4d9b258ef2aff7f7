// One case to a verdict: images built once, cloned into twin workspaces, steps in lock step.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "campaign/execution/case_result.hpp"
#include "campaign/execution/inspect.hpp"
#include "campaign/execution/known_hashes.hpp"
#include "campaign/execution/sandbox.hpp"
#include "campaign/execution/second_run.hpp"

namespace difffuzz {

// The two roles of a run: names of tools of the sandbox.
struct RolePair {
    std::string subject = "subject";
    std::string reference = "reference";
    // What stand-ins among them plant (apps/canary); empty: nothing.
    std::string fault = {};
    bool operator==(const RolePair&) const = default;
};

class Executor {
public:
    // `sandbox` outlives this. The neutral tool is the tool named "reference".
    Executor(Sandbox& sandbox, const Limits& limits);

    // Runs the case, which must have passed validate(). Does not throw for what tools do.
    // Without the layer `without` it is as if its operation had no such layer. `second` says
    // whether the subject does all of it again where both sides did alike.
    CaseResult run(const Case& c, const RolePair& roles,
                   std::optional<LayerId> without = std::nullopt, const SecondRun& second = {});

    // After run(): what each tool and our own reader read out of the images that the culprit step
    // left on both sides, at most four images. With limits of the case, in its workspaces.
    std::vector<CrossReading> read_across(const Case& c, const RolePair& roles,
                                          const CaseResult& result);

    // Input image id -> SHA-256 of what was built for the case that ran last: of the file where
    // equal recipes give equal files on every machine, of the virtual content where the reference
    // built it. Left out where it cannot be read.
    std::map<std::string, std::string> image_digests(const Case& c);

private:
    CaseResult attempt(const Case& c, const Operation& operation, const RolePair& roles,
                       const Limits& limits);

    void repeat(const Case& c, const Operation& operation, const RolePair& roles,
                const Limits& limits, const SecondRun& second, CaseResult& result);

    Sandbox& sandbox_;
    Limits limits_;
    KnownHashes hashes_;  // of the files in the workspaces
};

// Limits of a case: file and disk sizes scaled to what its images may need.
Limits scaled_limits(const Limits& base, const Case& c);

}  // namespace difffuzz

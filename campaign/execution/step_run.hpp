// Runs the commands of one case, step by step, in whatever workspace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "campaign/execution/inspect.hpp"
#include "campaign/execution/known_hashes.hpp"
#include "campaign/execution/sandbox.hpp"
#include "core/cases/case.hpp"
#include "oracles/observation.hpp"

namespace difffuzz {

class StepRunner {
public:
    // `sandbox` and `hashes` outlive this. `fault`: what stand-ins plant; empty: nothing.
    StepRunner(Sandbox& sandbox, KnownHashes& hashes, const Limits& limits, std::string fault);

    // What neutral looks are made with: the tool named "reference".
    const NeutralTool& neutral() const { return neutral_; }

    // Clones the input images that were built into workspaces that it empties. Returns what each of
    // them then holds, sorted by name. Throws ImageError or EnvironmentError.
    std::vector<FileEntry> set_up(const Case& c, const std::vector<int>& sides);

    // Why a neutral step cannot be run, for what a tool did to its images earlier; empty if it can.
    std::string neutral_obstacle(const Case& c, const Step& step, const std::vector<int>& sides);

    // Runs one step on one side, by `tool` if the actor is the tool, and lists what it left; with
    // `perturbed` in a perturbed place. Hashed are the input images, and outputs if their bytes
    // count.
    StepObservation run(const Case& c, const Step& step, int side, const SandboxTool& tool,
                        bool outputs_count, bool perturbed);

    // Whether a stand-in among the tools said that it planted its fault.
    bool planted() const { return planted_; }

private:
    Sandbox& sandbox_;
    KnownHashes& hashes_;
    Limits limits_;
    std::string fault_;
    NeutralTool neutral_;
    const SandboxTool* qemu_io_;
    bool planted_ = false;
};

// The tool of that name, which must be there.
const SandboxTool& tool_named(const Sandbox& sandbox, std::string_view name);

}  // namespace difffuzz

// Finds what a tool on the host needs to run elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "campaign/execution/sandbox.hpp"

namespace difffuzz {

// A host file or directory, and where it is mounted inside.
struct Binding {
    std::string host;
    std::string inside;
};

struct FoundTool {
    SandboxTool tool;
    std::vector<Binding> bindings;
};

// The trees of the host that every worker has (where they exist; a symbolic link is made anew).
const std::vector<std::string>& base_trees();

// Whether a path without symbolic links lies in one of them.
bool in_base_trees(std::string_view path);

// Resolves `source` in the host's view, before the root changes. Libraries are found by running the
// program's own loader with --list through a Runner, as a user that may read the program (`run_as`,
// else the owner of the directory that is closed to it). Throws EnvironmentError naming the path
// and the reason: missing, a directory, unreadable, not executable, a library or interpreter
// missing.
FoundTool find_tool(const ToolSource& source, const Identity& run_as);

}  // namespace difffuzz

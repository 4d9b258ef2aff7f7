// The one place that says how a tool's command is started inside the sandbox.
#pragma once

#include <string>
#include <vector>

#include "campaign/execution/sandbox.hpp"

namespace difffuzz {

// Where a side's commands find TMPDIR: beside its working directory.
std::string temporary_directory(const Sandbox& sandbox, int side);

// `arguments` without argv[0]; that is "qemu-img" for every tool, so that no message differs by the
// name a program was given. The command may write below the given sides' workspaces only.
Command tool_command(const Sandbox& sandbox, const SandboxTool& tool, int side,
                     const std::vector<int>& writable_sides,
                     const std::vector<std::string>& arguments, const Limits& limits);

// Tells a stand-in which fault to plant; any other tool is left alone, as is one without a fault.
void plant(const SandboxTool& tool, const std::string& fault, Command& command);

}  // namespace difffuzz

#include "campaign/execution/tool_command.hpp"

#include "core/tools/stand_in.hpp"

namespace difffuzz {

std::string temporary_directory(const Sandbox& sandbox, int side) {
    std::string path = sandbox.directory(side);
    path.back() = 't';
    return path;
}

Command tool_command(const Sandbox& sandbox, const SandboxTool& tool, int side,
                     const std::vector<int>& writable_sides,
                     const std::vector<std::string>& arguments, const Limits& limits) {
    Command command;
    command.program = tool.program;
    command.argv = {"qemu-img"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.directory = sandbox.directory(side);
    const std::string scratch = temporary_directory(sandbox, side);
    command.environment = {"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin", "HOME=" + scratch,
                           "TMPDIR=" + scratch};
    command.environment.insert(command.environment.end(), tool.environment.begin(),
                               tool.environment.end());
    for (const int writable : writable_sides) {
        command.writable.push_back(sandbox.directory(writable));
        command.writable.push_back(temporary_directory(sandbox, writable));
    }
    command.readable = {sandbox.directory(side)};
    command.limits = limits;
    return command;
}

void plant(const SandboxTool& tool, const std::string& fault, Command& command) {
    if (tool.stand_in && !fault.empty()) {
        command.environment.push_back(std::string(stand_in::fault_variable) + "=" + fault);
    }
}

}  // namespace difffuzz

#include "campaign/execution/step_run.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "campaign/execution/perturbation.hpp"
#include "campaign/execution/tool_command.hpp"
#include "campaign/execution/workspace.hpp"
#include "core/tools/dialect.hpp"
#include "core/tools/stand_in.hpp"
#include "images/format.hpp"

namespace difffuzz {
namespace {

// Null when there is none of that name.
const SandboxTool* find_tool(const Sandbox& sandbox, std::string_view name) {
    const auto& tools = sandbox.tools();
    const auto found = std::ranges::find(tools, name, &SandboxTool::name);
    return found == tools.end() ? nullptr : &*found;
}

// Whether a stand-in that ran on this side says that it planted its fault.
bool left_its_mark(const Sandbox& sandbox, int side) {
    struct stat status {};
    const std::string mark = temporary_directory(sandbox, side) + "/" + stand_in::mark;
    return ::lstat(mark.c_str(), &status) == 0;
}

// Files whose bytes are hashed: the inputs always, since they must not change; outputs only where
// their bytes will be compared.
std::vector<std::string> hashed_files(const Case& c, bool outputs) {
    std::vector<std::string> names;
    for (const ImageRecipe& image : c.images) {
        const std::vector<std::string> files = files_of(image);
        names.insert(names.end(), files.begin(), files.end());
    }
    if (outputs) {
        for (const OutputImage& output : c.outputs) {
            names.push_back(file_name(output.id, output.format));
        }
    }
    return names;
}

}  // namespace

const SandboxTool& tool_named(const Sandbox& sandbox, std::string_view name) {
    const SandboxTool* const tool = find_tool(sandbox, name);
    assert(tool != nullptr);
    return *tool;
}

StepRunner::StepRunner(Sandbox& sandbox, KnownHashes& hashes, const Limits& limits,
                       std::string fault)
    : sandbox_(sandbox),
      hashes_(hashes),
      limits_(limits),
      fault_(std::move(fault)),
      neutral_{tool_named(sandbox, "reference"), limits},
      qemu_io_(find_tool(sandbox, "io")) {}

std::vector<FileEntry> StepRunner::set_up(const Case& c, const std::vector<int>& sides) {
    std::vector<std::string> directories;
    for (const int side : sides) {
        sandbox_.reset(side);
        directories.push_back(sandbox_.directory(side));
    }
    std::vector<FileEntry> initial;
    for (const ImageRecipe& image : c.images) {
        for (const std::string& name : files_of(image)) {
            initial.push_back(
                clone_file(sandbox_.directory(Sandbox::build_side), directories, name));
            for (const std::string& directory : directories) {
                hashes_.remember(directory + "/" + name, initial.back().content_hash);
            }
        }
    }
    std::ranges::sort(initial, {}, &FileEntry::name);
    return initial;
}

std::string StepRunner::neutral_obstacle(const Case& c, const Step& step,
                                         const std::vector<int>& sides) {
    if (step.actor != Actor::neutral) {
        return {};
    }
    if (program_of(step) == "qemu-io" && qemu_io_ == nullptr) {
        return "there is no qemu-io beside the reference";
    }
    for (const Argument& argument : step.arguments) {
        const auto* image = argument.value ? std::get_if<ImageValue>(&*argument.value) : nullptr;
        for (const int side : sides) {
            if (image != nullptr &&
                find_escape(sandbox_.directory(side), file_name_of(c, image->id))) {
                return "an image of a neutral step refers outside of the workspace";
            }
        }
    }
    return {};
}

StepObservation StepRunner::run(const Case& c, const Step& step, int side,
                                const SandboxTool& own_tool, bool outputs_count, bool perturbed) {
    const bool io = program_of(step) == "qemu-io";
    const SandboxTool& tool = io                             ? *qemu_io_
                              : step.actor == Actor::neutral ? neutral_.qemu_img
                                                             : own_tool;
    Command command = tool_command(sandbox_, tool, side, {side}, render_step(c, step), limits_);
    command.argv.front() = program_of(step);
    plant(tool, fault_, command);
    if (perturbed && step.actor == Actor::tool) {
        perturb(command);
    }
    StepObservation seen{command.argv, sandbox_.run(command), {}, {}, false};
    Listing listing =
        list_workspace(sandbox_.directory(side), hashed_files(c, outputs_count), hashes_);
    planted_ |= tool.stand_in && left_its_mark(sandbox_, side);
    seen.files = std::move(listing.files);
    seen.files_cut = listing.cut;
    return seen;
}

}  // namespace difffuzz

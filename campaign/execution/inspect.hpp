// Neutral looks into a workspace: by our own readers, else by the reference's qemu-img.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/execution/sandbox.hpp"
#include "images/format.hpp"
#include "oracles/observation.hpp"

namespace difffuzz {

// How the neutral tool is started: a tool of the sandbox, its environment and limits.
struct NeutralTool {
    SandboxTool qemu_img;
    Limits limits;
};

// The neutral qemu-img in the directory where images are built (side 2).
class SandboxNeutralTools : public NeutralTools {
public:
    SandboxNeutralTools(Sandbox& sandbox, const NeutralTool& tool);
    Outcome qemu_img(const std::vector<std::string>& arguments) override;

private:
    Sandbox& sandbox_;
    const NeutralTool& tool_;
};

// The first reference in the metadata of `name` (or of what it refers to inside the workspace, 16
// deep) that leaves the workspace. Scanned before any tool of ours opens the image.
std::optional<ForeignReference> find_escape(const std::string& directory, const std::string& name);

// The neutral looks after one step. What each file refers to is scanned once, since nothing changes
// the workspaces between two looks.
class Looks {
public:
    Looks(Sandbox& sandbox, const NeutralTool& tool) : sandbox_(sandbox), tool_(tool) {}

    // Looks at one image on one side. Never opens what escapes, is no regular file, or is missing.
    Inspection inspect(int side, const InspectionRequest& request, const std::string& file_name);

    // Reads the bytes of `sector` of an image on one side into its finding's samples.
    void sample_sector(int side, Inspection& inspection, const std::string& file_name,
                       std::uint64_t sector);

private:
    Finding find(int side, const InspectionRequest& request, const std::string& file_name);

    Sandbox& sandbox_;
    const NeutralTool& tool_;
    std::map<std::pair<int, std::string>, std::optional<ForeignReference>> escapes_;
};

}  // namespace difffuzz

// The two tools of a comparison as known divergences name them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/cases/plan.hpp"
#include "core/tools/profile.hpp"

namespace difffuzz {

struct ToolVersion {
    std::string tool;     // "qemu-img": the first word that the tool prints for --version
    std::string version;  // "7.2.22"; may be empty
    bool operator==(const ToolVersion&) const = default;
};

struct ToolPair {
    ToolVersion subject;
    ToolVersion reference;
    bool operator==(const ToolPair&) const = default;
};

// What a plan declares of the tools (Plan::versions): "qemu-img 7.2.22".
std::map<std::string, std::string> declared_versions(const Profile& subject,
                                                     const Profile& reference);
// Back from that; a role that the plan says nothing of has no tool and no version.
ToolPair declared_pair(const Plan& plan);

}  // namespace difffuzz

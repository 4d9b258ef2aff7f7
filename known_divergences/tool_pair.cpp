#include "known_divergences/tool_pair.hpp"

namespace difffuzz {
namespace {

// A plan's words have at most 64 bytes.
constexpr std::size_t max_tool = 31;
constexpr std::size_t max_version = 32;

ToolVersion tool_of(const Plan& plan, const std::string& role) {
    const auto found = plan.versions.find(role);
    if (found == plan.versions.end()) {
        return {};
    }
    const std::string& text = found->second;
    const std::size_t space = text.find(' ');
    return {text.substr(0, space), space == std::string::npos ? "" : text.substr(space + 1)};
}

std::string declared(const Profile& profile) {
    const std::string& text = profile.version_text;
    return text.substr(0, text.find(' ')).substr(0, max_tool) + " " +
           profile.version.substr(0, max_version);
}

}  // namespace

std::map<std::string, std::string> declared_versions(const Profile& subject,
                                                     const Profile& reference) {
    return {{"subject", declared(subject)}, {"reference", declared(reference)}};
}

ToolPair declared_pair(const Plan& plan) {
    return {tool_of(plan, "subject"), tool_of(plan, "reference")};
}

}  // namespace difffuzz

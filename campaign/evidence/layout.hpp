// The evidence directory: what is where, made and opened.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "campaign/evidence/lock.hpp"
#include "core/cases/plan.hpp"
#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

inline constexpr std::string_view campaign_schema = "difffuzz.campaign/1";

// Evidence that is open and locked.
struct Evidence {
    std::string directory;
    std::unique_ptr<EvidenceLock> lock;
    FileDescriptor root;
    FileDescriptor staging;  // emptied at opening
    // campaign.json of the run that is resumed; nothing for a new one.
    std::optional<nlohmann::json> earlier;
};

// Opens `directory` for a campaign. A directory that holds anything is a UsageError without
// `resume` (but for the empty one that a campaign leaves which did not get to its first case); with
// it, one that holds no campaign is, and nothing is made. EnvironmentError when it is locked or
// cannot be written.
Evidence open_evidence(const std::string& directory, bool resume);

// campaign.json: what was asked for and how far it came ("incomplete", "complete").
void write_campaign(const Evidence& evidence, const nlohmann::json& campaign);
// Of a finished or unfinished campaign, with state, terms and both profiles as write_campaign gets
// them. Throws UsageError when `directory` holds none.
nlohmann::json read_campaign(const std::string& directory);
// plan.json of a campaign. Throws UsageError.
Plan read_campaign_plan(const std::string& directory);

}  // namespace difffuzz

// Records and recipes that a command is given.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "campaign/evidence/record.hpp"

namespace difffuzz {

// A record, also in the text of an issue, or a bare recipe (without a symptom), of at most 16 MiB,
// inside its operation's envelope. Throws UsageError naming the file.
ParsedRecord read_record_or_recipe(const std::string& path);

// Whether the campaign of this evidence (its campaign.json) ended. If not, says so, and what to do.
bool ended_or_told(const nlohmann::json& campaign, const std::string& evidence);

// The commands of a case as a shell would take them, one a line.
std::string shown_commands(const Case& c);

}  // namespace difffuzz

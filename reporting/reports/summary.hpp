// The end of a campaign in words and in JSON (docs/summary.schema.json).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "campaign/campaign.hpp"

namespace difffuzz {

inline constexpr std::string_view summary_schema = "difffuzz.summary/1";

nlohmann::json summary_json(const CampaignResult& result);

// For a terminal or a log; ends with the verdict line. Works from summary.json alone, so that
// `difffuzz report` prints what the campaign printed.
std::string summary_text(const nlohmann::json& summary);

// What the account of the normalisers (`normalisers` of summary.json) says, line by line.
std::vector<std::string> normaliser_lines(const nlohmann::json& normalisers);

// What of the containment was not in force, a few words each; `containment` as in campaign.json.
std::vector<std::string> containment_gaps(const nlohmann::json& containment);

}  // namespace difffuzz

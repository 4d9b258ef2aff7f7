// How commands that make evidence end.
#pragma once

#include <string>

#include "campaign/campaign.hpp"

namespace difffuzz {

// Writes summary.json, summary.txt and, where the campaign is complete, manifest.json to the
// evidence; prints the second. Throws EnvironmentError.
void write_summary(const CampaignResult& result, const std::string& directory);

}  // namespace difffuzz

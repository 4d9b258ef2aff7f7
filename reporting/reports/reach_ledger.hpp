// The ledger of a campaign's reach: what could be drawn, what was, and what came of it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "campaign/campaign.hpp"

namespace difffuzz {

// {"singles", "pairs": {"declared", "drawn", "compared"; "steered" for pairs: how many a case of
// the campaign was steered to}, "not_reached": [[OPERATION, FIRST, SECOND]] of pairs that a case
// was steered to and none holds, "operations": {OPERATION: {"options", "formats", "features":
// {NAME: COUNTS}, "pairs": {FIRST: {SECOND: COUNTS}}}}}, where COUNTS are [drawn, compared, refused
// by both].
nlohmann::json reach_ledger(const CampaignResult& result);

// The ledger in short: how many of how many were compared, and which options, formats and features
// never were, in a bounded number of lines.
std::vector<std::string> reach_lines(const nlohmann::json& ledger);

}  // namespace difffuzz

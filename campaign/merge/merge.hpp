// Joins the evidence of shards to that of the campaign that one machine would have run.
#pragma once

#include <string>
#include <vector>

#include "campaign/campaign.hpp"

namespace difffuzz {

struct MergeOptions {
    std::string directory;            // of the merged evidence
    std::vector<std::string> shards;  // directories
    std::string known_directory;      // of the user's own entries; empty: none
};

// Steps:
//   1. the shards are read and must be of one campaign, each there once;
//   2. their journals are joined by index, and what one machine would have kept is decided anew:
//      the first cases of each symptom, which of them are triaged, which slips are followed;
//   3. results of triage are taken from the shards; what none of them did is left to
//      `run --resume` of the merged evidence;
//   4. records come to their places as one machine would have left them.
// Leaves evidence in `directory` as run_campaign does, with the list of shards in campaign.json. A
// campaign that is not whole gets no verdict, and the reasons say why. Throws UsageError,
// EnvironmentError.
CampaignResult merge_shards(const MergeOptions& options);

}  // namespace difffuzz

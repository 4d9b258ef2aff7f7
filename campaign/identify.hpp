// From what a worker found to profiles and the plan's declarations.
#pragma once

#include "campaign/campaign.hpp"
#include "campaign/workers/messages.hpp"

namespace difffuzz {

struct IdentifiedTools {
    Profile subject;
    Profile reference;
    std::optional<Profile> baseline;  // where the options name one
    Containment containment;
    std::vector<std::string> formats;                      // that both handle, of those we know
    std::vector<std::string> features;                     // likewise
    std::map<std::string, std::vector<FileStamp>> stamps;  // by tool: of the files identified
};

// Starts one worker, asks both tools who they are, hashes their files. Throws EnvironmentError
// naming the tool that cannot be used.
IdentifiedTools identify_tools(const CampaignOptions& options, int staging);

// The worker's setup for a campaign's cases.
WorkerSetup worker_setup(const CampaignOptions& options, const Plan& plan);

}  // namespace difffuzz

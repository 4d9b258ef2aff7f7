// What a resumed campaign must share with the one that it continues, and shards with each other.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "core/cases/plan.hpp"

namespace difffuzz {

struct CampaignTerms {
    nlohmann::json campaign;  // as in campaign.json
    Plan plan;
};

struct TermsDifference {
    std::string what;  // the flag, or in words
    std::string before;
    std::string now;
};

// The first of these that differs, all but the shard: the tools, the generator, the seed, the
// number of cases, --max-new, --triage-runs, --determinism, the plan.
std::optional<TermsDifference> terms_difference(const CampaignTerms& earlier,
                                                const CampaignTerms& now);

// Throws UsageError naming the first that differs, the shard last.
void require_same_terms(const CampaignTerms& earlier, const CampaignTerms& now);

}  // namespace difffuzz

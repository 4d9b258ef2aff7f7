// What a resumed campaign must share with the one that it continues.
#pragma once

#include <nlohmann/json.hpp>

#include "core/cases/plan.hpp"

namespace difffuzz {

struct CampaignTerms {
    nlohmann::json campaign;  // as in campaign.json
    Plan plan;
};

// Throws UsageError naming the first of these that differs, with the flag and both values: the
// tools, the generator, the seed, the number of cases, --max-new, --triage-runs,
// --determinism, the shard, the plan.
void require_same_terms(const CampaignTerms& earlier, const CampaignTerms& now);

}  // namespace difffuzz

// The cases of all shards in the order of their indices.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "campaign/merge/shard_set.hpp"
#include "campaign/triage/result.hpp"
#include "campaign/workers/messages.hpp"

namespace difffuzz {

struct JoinedCases {
    std::vector<TriageResult> triaged;  // by the shards
    std::vector<std::string> gaps;      // shards that lack cases though they say they are complete
};

// Calls `take` for each index of the campaign, in order: with what the shard's journal says, or
// untested where there is none. Holds one line of each journal at a time. EnvironmentError for a
// journal that cannot be used, or has a case of another shard.
JoinedCases join_cases(const ShardSet& set, const std::function<void(const CaseReport&)>& take);

}  // namespace difffuzz

// The records of a merged campaign, from those of its shards.
#pragma once

#include <string>
#include <vector>

#include "campaign/merge/shard_set.hpp"
#include "campaign/tally.hpp"
#include "campaign/triage/result.hpp"

namespace difffuzz {

// What the shards triaged and what of it the merged campaign takes over.
struct JoinedTriage {
    std::vector<TriageResult> of_shards;
    std::vector<TriageResult> taken;
};

// Copies to `directory` the records of the cases that the buckets of `tally` (as seen, before
// triage) keep and of the slips that were taken: as triage left them where its result was taken,
// else as they were seen. Then what lies beside buckets: `killed` (indices of cases that ended
// workers) and suspected hangs. EnvironmentError naming a record that is not there.
void join_records(const ShardSet& set, const Tally& tally, const JoinedTriage& triage,
                  const std::vector<std::pair<std::string, std::uint64_t>>& killed,
                  const std::string& directory);

}  // namespace difffuzz

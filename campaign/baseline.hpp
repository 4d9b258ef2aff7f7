// An older subject beside the one under test: what is the change's fault, and what was there
// before.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/tally.hpp"
#include "core/tools/profile.hpp"

namespace difffuzz {

class WorkerPool;

// Runs the first record of each bucket that is new or untriaged, and not the reference's own, with
// the tool named "baseline" as the subject: the recipe of the record, then, if that does not show
// the symptom, the case as it was seen. Each once; one that times out three times.
//   the symptom shows              pre-existing
//   all runs end in another way    regression
//   a run has no verdict           the status stays: nothing tells
// Status and runs are put into all records of the bucket but flaky ones, below `evidence`, and into
// the buckets that are returned. To do it again is to do it once. Nothing when the pool was
// stopped. Throws UsageError or EnvironmentError for evidence that cannot be read or written.
std::optional<std::map<std::string, Bucket>> held_against_baseline(
    WorkerPool& pool, const std::string& evidence, const Profile& baseline,
    const std::map<std::string, Bucket>& buckets);

// A divergence of the baseline from the reference that the subject does not have in the same cases.
struct FixedBucket {
    std::string type;
    std::string severity;
    std::uint64_t cases = 0;
    std::uint64_t first = 0;  // index
    bool operator==(const FixedBucket&) const = default;
};
struct FixedMeanwhile {
    std::uint64_t cases = 0;           // that were run with the baseline
    std::uint64_t no_answer = 0;       // of these, without a verdict
    std::vector<FixedBucket> buckets;  // by their first case
};
// Runs cases of the campaign with the baseline, and those that diverge with the subject; severity
// `reference` does not count.
FixedMeanwhile find_fixed(WorkerPool& pool, const std::vector<std::uint64_t>& cases);

}  // namespace difffuzz

// The triage of a campaign, after its last commit: which divergences are confirmed and shrunk, in
// which order, and what is kept of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "campaign/evidence/journal.hpp"
#include "campaign/tally.hpp"
#include "campaign/triage/result.hpp"
#include "campaign/workers/pool.hpp"

namespace difffuzz {

// Symptoms that are triaged at most, those of slips included; the rest stays untriaged.
inline constexpr std::size_t max_triaged_symptoms = 100;

// Slips of one divergence that are looked at: a tool whose messages differ with every word of a
// case would fill all places with one cause. Those that need not be followed count, too: which
// those are depends on other shards.
inline constexpr std::size_t max_followed_slips = 4;

struct TriageTerms {
    std::string evidence;          // directory
    std::uint64_t max_runs = 300;  // of one case; 0: no triage
    unsigned jobs = 1;
    bool shard = false;  // of several: follow whatever a merge could ask for
    std::vector<std::string> reference_varies = {};  // as in the campaign
};

// One divergence to triage, and what is known of it.
struct TriageItem {
    std::string first;  // directory of its record below the evidence; empty: a slip
    std::string first_fingerprint;
    std::string slipped_from;
    // Of a slip: the bucket of the case that began it, and all symptoms on the way.
    std::string lineage;
    bool again = false;  // it is seen in a second run of the subject only
    Sighting sighting;   // of a case that has a record, without what was seen
    std::optional<TriageResult> result;
};

// The result of an item among others.
std::optional<TriageResult> result_in(const std::vector<TriageResult>& results,
                                      const TriageItem& item);

// What a journal says was triaged. EnvironmentError naming it for what difffuzz did not write.
std::vector<TriageResult> triaged_before(const JournalState& journal, const std::string& evidence);

// What is triaged, in waves:
//   1. the buckets of the tally by severity and lowest index, the first 100; of each the cases that
//      have a record;
//   2. what they slipped to that no case of the campaign showed, by the index of the case that
//      slipped, each symptom once: the first 4 from one divergence, up to 100 symptoms in all. What
//      slips slip to in their turn is left out.
// A merged campaign takes its results from those of its shards. Which case is the first to slip to
// a symptom depends on all shards, so a shard follows each symptom once for each way to it: from
// the first case of each bucket, since of a bucket's cases in one shard the merged campaign keeps
// the first ones. `run` sets the results of one wave, false when it left some out; `done` likewise.
// Pure.
std::vector<TriageResult> triage_in_waves(const Tally& tally, bool shard,
                                          const std::function<bool(std::vector<TriageItem>&)>& run,
                                          bool& done);

// The waves on workers: confirmed, shrunk, their records put in their places. What stands in
// `earlier` (a journal's) is not done again. `progress` is called with how many are done and how
// many there are so far. Returns the results in that order; a stopped pool leaves out those that it
// did not come to, and `*done` false.
std::vector<TriageResult> run_triage(WorkerPool& pool, Journal& journal, const Tally& tally,
                                     const std::vector<TriageResult>& earlier,
                                     const TriageTerms& terms,
                                     const std::function<void(std::size_t, std::size_t)>& progress,
                                     bool& done);

// Symptoms that were met while others were shrunk, and neither shown by a case nor followed. Of the
// tally before buckets_after().
std::size_t slips_left_out(const Tally& tally, const std::vector<TriageResult>& results);

// The buckets of a campaign once the results are known, by fingerprint: a triaged case counts in
// that of its shrunk case; the cases of a symptom that have no record count in the bucket of its
// first one.
std::map<std::string, Bucket> buckets_after(const Tally& tally,
                                            const std::vector<TriageResult>& results);

}  // namespace difffuzz

// A campaign: many cases from one seed and plan, to a verdict and its evidence.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "campaign/again_sample.hpp"
#include "campaign/baseline.hpp"
#include "campaign/evidence/provenance.hpp"
#include "campaign/evidence/subject_source.hpp"
#include "campaign/planted_fault.hpp"
#include "campaign/shard.hpp"
#include "campaign/tally.hpp"
#include "campaign/triage/result.hpp"
#include "core/cases/plan.hpp"
#include "core/tools/profile.hpp"

namespace difffuzz {

struct CampaignOptions {
    std::string executable = "/proc/self/exe";  // what workers are started from
    std::vector<std::string> command;           // the words that asked for this run
    std::string version;                        // of difffuzz
    std::optional<SubjectSource> subject_source;
    std::uint64_t iterations = 1000;
    std::uint64_t seed = 0;
    std::vector<OperationWeight> operations;  // empty: all, by default weights
    std::string subject;                      // absolute program paths
    std::string reference;
    std::string baseline;  // an older subject that new divergences are held against; empty: none
    std::uint64_t fixed_meanwhile = 0;  // first cases that are run with the baseline, too
    // The stand-in of the positive control and what it can plant; without a program there is none.
    std::string canary;
    std::vector<PlantedFault> faults;
    // Who plays the two roles of the cases; anybody else than the two tools needs no controls.
    RolePair roles = {};
    std::vector<std::string> exposed;
    Identity run_as;
    unsigned jobs = 1;
    Limits limits;
    std::string directory;  // of the evidence
    bool resume = false;
    std::optional<std::uint64_t> max_new;
    unsigned min_compared = 50;
    unsigned max_inconclusive = 5;
    unsigned damaged_percent = 15;
    std::uint64_t triage_runs = 300;  // to shrink one case; 0: nothing is confirmed or shrunk
    Shard shard;
    Determinism determinism = Determinism::sample;
    std::string known_mode{known_steer};  // known_divergences/known_filter.hpp
    std::string known_directory;          // of the user's own entries; empty: none
    std::optional<std::chrono::seconds> duration;
    // Without a number of iterations the duration alone bounds the campaign; `iterations` is then
    // unbounded_iterations.
    bool duration_bounds = false;
};

struct Progress {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    std::uint64_t compared = 0;
    std::uint64_t buckets = 0;
    double seconds = 0;           // since the first case of this run
    std::uint64_t done_here = 0;  // by this run, for the rate
    bool triage = false;          // done and total are divergences that are confirmed and shrunk
};

// One control, as the summary tells it.
struct ControlResult {
    std::string name;  // "null", "liveness", "positive"
    bool passed = false;
    std::string line;
};

// An operation that a tool does not have: it refused every try, or did not start for it.
struct UnavailableOperation {
    std::string operation;
    std::string tool;     // "subject" or "reference"
    std::string outcome;  // class of the last try: "refused", "not_started"
    std::string words;    // what the tool said to it: one line, escaped, bounded; may be empty
};

struct CampaignResult {
    Verdict verdict;
    Tally tally;
    Plan plan;
    Registry known;
    Profile subject;
    Profile reference;
    std::optional<Profile> baseline;
    FixedMeanwhile fixed;  // where it was asked for
    Containment containment;
    std::vector<ControlResult> controls;
    std::vector<UnavailableOperation> unavailable;
    std::vector<TriageResult> triage;
    std::uint64_t slips_left_out = 0;  // symptoms met while shrinking that were not followed
    Determinism determinism = Determinism::sample;
    // What the reference was seen not to repeat before the first case: names by varying_name().
    std::vector<std::string> reference_varies;
    std::uint64_t iterations = 0;
    std::uint64_t seed = 0;
    WorkerUsage usage;
    std::uint64_t coordinator_cpu_us = 0;
    std::uint64_t coordinator_peak_bytes = 0;
    double seconds = 0;
};

struct CampaignHooks {
    std::function<void(const Progress&)> progress;
    std::function<void(const std::string&)> note;  // one line for the log
};

// Runs or resumes a campaign. Leaves in `directory`: campaign.json, plan.json, journal.ndjson,
// records/, hangs/ (docs/architecture.md). Throws UsageError or EnvironmentError; interruption
// (SIGINT, SIGTERM) is a verdict.
CampaignResult run_campaign(const CampaignOptions& options, const CampaignHooks& hooks);

}  // namespace difffuzz

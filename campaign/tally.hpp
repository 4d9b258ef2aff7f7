// Sums over the committed cases of a campaign, and the verdict they give.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "campaign/again_sample.hpp"
#include "campaign/known_tally.hpp"
#include "campaign/reach_tally.hpp"
#include "campaign/workers/messages.hpp"
#include "core/errors.hpp"

namespace difffuzz {

inline constexpr std::size_t terminal_count = static_cast<std::size_t>(Terminal::untested) + 1;

// Cases per terminal outcome. They add up to the campaign's N, or there is no verdict.
using Books = std::array<std::uint64_t, terminal_count>;

struct OperationTally {
    Books books{};
    std::uint64_t compared = 0;
    std::uint64_t valid = 0;            // cases with intent valid that ran to an end
    std::uint64_t valid_accepted = 0;   // ... that the reference accepted
    std::uint64_t refused = 0;          // cases with intent refused that ran to an end
    std::uint64_t refused_refused = 0;  // ... that the reference refused
};

struct LayerTally {
    std::uint64_t agreed = 0;
    std::uint64_t diverged = 0;
    std::map<std::string, std::uint64_t> inconclusive;    // reason -> cases
    std::map<std::string, std::uint64_t> not_applicable;  // reason -> cases
};

// Comparisons of the two sides that agree only because of one normaliser.
struct NormaliserTally {
    std::uint64_t comparisons = 0;
    std::uint64_t cases = 0;
    std::uint64_t first = 0;  // lowest index of them
};

// Divergences with one key (CaseReport::bucket_key).
struct Bucket {
    std::string type;
    std::string severity;
    nlohmann::json symptom;
    std::uint64_t cases = 0;
    std::vector<std::uint64_t> kept;  // indices with a full record, ascending
    std::string directory() const;    // below the evidence, without the index
    std::string fingerprint;
    std::string known;  // id of the entry that covers them; empty: they are new
    // "new" and "flaky" come from triage, "regression" and "pre-existing" from a baseline; or
    // "known(ID)".
    std::string status = "untriaged";
    std::vector<std::string> features;     // that its shrunk cases could not lose
    std::vector<std::string> explanation;  // of one of them, in words
    nlohmann::json attribution;            // as in its first record
    nlohmann::json baseline;               // likewise; null without one
    // Met while a case of this fingerprint was shrunk; empty: in a case of the campaign.
    std::string slipped_from;
    std::string key() const { return bucket_key(fingerprint, known); }
};

class Tally {
public:
    // Full records kept for each fingerprint: those of the lowest indices.
    static constexpr std::size_t kept_per_bucket = 3;

    // In index order.
    void add(const CaseReport& report);

    const Books& books() const { return books_; }
    std::uint64_t count(Terminal terminal) const {
        return books_[static_cast<std::size_t>(terminal)];
    }
    std::uint64_t total() const;
    std::uint64_t compared() const { return compared_; }
    const std::map<std::string, OperationTally>& operations() const { return operations_; }
    // Keyed by layer name, in no particular order; summaries sort them.
    const std::map<std::string, LayerTally>& layers() const { return layers_; }
    // Name -> account; none for those that never mattered.
    const std::map<std::string, NormaliserTally>& normalisers() const { return normalisers_; }
    // Cases in which the subject's second run was held against its first.
    std::uint64_t run_again() const;
    // Key -> bucket.
    const std::map<std::string, Bucket>& buckets() const { return buckets_; }
    const KnownTally& known() const { return known_; }
    // Operation -> what its cases held.
    const std::map<std::string, ReachTally>& reach() const { return reach_; }
    // Indices of suspected hangs, and which side.
    const std::vector<std::pair<std::uint64_t, std::string>>& hangs() const { return hangs_; }
    // Valid cases that the reference did not accept: operation and reason -> cases.
    const std::map<std::string, std::uint64_t>& not_accepted() const { return not_accepted_; }
    const std::map<std::string, std::uint64_t>& harness_reasons() const { return harness_reasons_; }

    // What triage made of the buckets takes their place.
    void set_buckets(std::map<std::string, Bucket> buckets) { buckets_ = std::move(buckets); }

    // Buckets that no entry knows, whose severity is not `reference`, and that are neither flaky
    // nor pre-existing: what keeps a campaign from being clean.
    std::uint64_t new_buckets() const;
    // Those with this status, of any severity but `reference`.
    std::uint64_t buckets_of(std::string_view status) const;
    bool wants_record(const std::string& bucket_key) const;
    // Whether `add` of this report would open a new bucket.
    bool opens_bucket(const CaseReport& report) const;

private:
    Books books_{};
    std::uint64_t compared_ = 0;
    std::map<std::string, OperationTally> operations_;
    std::map<std::string, LayerTally> layers_;
    std::map<std::string, NormaliserTally> normalisers_;
    std::map<std::string, ReachTally> reach_;
    KnownTally known_;
    std::map<std::string, Bucket> buckets_;
    std::vector<std::pair<std::uint64_t, std::string>> hangs_;
    std::map<std::string, std::uint64_t> not_accepted_;
    std::map<std::string, std::uint64_t> harness_reasons_;
};

// What must hold for a clean run, beside the tally.
struct VerdictTerms {
    std::uint64_t iterations = 0;   // N
    unsigned min_compared = 50;     // per cent of N less outside shard
    unsigned max_inconclusive = 5;  // per cent of the same
    bool null_run = false;          // subject and reference are the same tool
    bool baseline = false;          // new divergences were held against an older subject
    bool baseline_is_subject = false;
    bool interrupted = false;
    bool stopped_at_max_new = false;
    std::string known_mode{known_off};  // the plan's
    Determinism determinism = Determinism::off;
    std::vector<std::string> control_failures;  // sentences; any: no verdict
};

struct Verdict {
    ExitCode exit = ExitCode::no_verdict;
    std::string line;                  // one sentence
    std::vector<std::string> reasons;  // why there is no verdict, when there is none
};

Verdict judge(const Tally& tally, const VerdictTerms& terms);

}  // namespace difffuzz

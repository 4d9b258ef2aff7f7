// The triage of one divergence, as a state machine: confirm, shrink, explain, confirm what is left.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/triage/explain.hpp"
#include "campaign/triage/search.hpp"
#include "campaign/triage/target.hpp"

namespace difffuzz {

// A divergence counts after this many runs of its own, each in fresh workspaces.
inline constexpr std::size_t confirming_runs = 3;
// Runs to explain a least case, at most; no more than those to shrink it.
inline constexpr std::uint64_t explaining_runs = 40;

// A divergence that was seen.
struct Sighting {
    Reduced seen;
    std::string symptom_key;
    std::uint64_t iteration = 0;
    std::string stage;  // directory below staging for the record
    bool explain = false;
    SecondRun second = {};  // how it was seen
};

// One run that was to show the symptom again.
struct Confirmation {
    bool of_least = false;  // of the shrunk case, else of the case as it was seen
    std::string terminal;
    std::string type;         // of the divergence seen; empty: none
    std::string symptom_key;  // likewise
};

class TriageSession {
public:
    TriageSession(Sighting sighting, std::uint64_t max_runs);

    struct Wanted {
        std::string id;
        Task task;
        bool alone = false;  // with nothing beside it
    };
    // What to run next, at most `ahead` candidates beyond what is decided; nothing when all of
    // those are out, or at the end.
    std::optional<Wanted> next(std::size_t ahead);
    // The report of what was wanted under `id`; a case that ended its worker reports
    // harness_killed.
    void put(const std::string& id, const CaseReport& report);

    bool ended() const { return stage_ == Stage::ended; }
    // At the end: whether every confirming run of the sighting showed its symptom.
    bool confirmed() const { return confirmed_; }
    // At the end, if confirmed: whether the record of least() lies in staging. It does not when
    // even the case as seen did not show its symptom any more.
    bool staged() const { return staged_; }
    const Sighting& sighting() const { return sighting_; }
    const Reduced& least() const { return least_; }
    // No single edit keeps the symptom; false also where the shrunk case was not stable and the
    // case as seen stands in for it.
    bool minimal() const { return minimal_; }
    std::uint64_t runs() const { return search_ ? search_->runs() : 0; }
    const std::vector<Confirmation>& confirmations() const { return confirmations_; }
    // Of a minimal least case, if the sighting was to be explained.
    const std::optional<Explanation>& explanation() const { return explanation_; }
    const std::vector<Slip>& slips() const { return slips_; }
    // Of the run whose record lies in staging.
    const CaseReport& last() const { return last_; }

private:
    enum class Stage { confirming, searching, explaining, confirming_least, recording, ended };

    void start_search();
    void end_search();
    void end_explaining();
    void put_confirmation(const CaseReport& report, bool of_least);
    bool shows_symptom(const CaseReport& report, std::size_t culprit) const;

    Sighting sighting_;
    std::uint64_t max_runs_;
    Stage stage_ = Stage::confirming;
    bool out_ = false;  // a run that is no candidate's
    std::optional<Target> target_;
    std::optional<Search> search_;
    std::map<std::string, std::size_t> culprits_;  // of candidates that are out, by id
    Reduced least_;
    std::vector<Confirmation> confirmations_;
    std::size_t shown_ = 0;  // confirming runs of this stage that showed the symptom
    std::size_t seen_ = 0;   // confirming runs of this stage
    bool confirmed_ = false;
    bool staged_ = false;
    bool minimal_ = false;
    std::optional<Explainer> explainer_;
    std::optional<Explanation> explanation_;
    std::vector<Slip> slips_;
    CaseReport last_;
};

}  // namespace difffuzz

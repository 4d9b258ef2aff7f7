// The search for the least case that shows a symptom, as a state machine: it says what to run and
// is told how that ended. Knows cases and edits; no tool, no operation, no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "campaign/triage/reducer.hpp"

namespace difffuzz {

// How a run of a candidate ended.
enum class TrialEnd {
    same,       // the symptom, in the corresponding step
    slipped,    // another symptom
    agreed,     // both tools did the same
    other,      // nothing to say about the symptom: not set up, unavailable, a limit
    timed_out,  // likewise, and it took long
};
std::string_view to_string(TrialEnd end);

struct TrialResult {
    TrialEnd end = TrialEnd::other;
    std::string symptom_key;  // of the symptom slipped to
};

// An edit of the least case that loses the symptom.
struct RefusedEdit {
    std::string thing;
    std::string becomes;  // empty: left out
    TrialEnd end = TrialEnd::other;
    Case candidate;  // what it made
};

struct Slip {
    Reduced from;
    std::string symptom_key;
};

struct SearchTerms {
    // Budget in runs; one that times out counts as 20.
    std::uint64_t max_runs = 300;
    // The envelope and all else that a candidate must keep, before it is run. Pure.
    std::function<bool(const Reduced&)> allowed;
    WordDomain words;
};
inline constexpr std::uint64_t timeout_cost = 20;

// Steps:
//   1. reducers in the table's order, the edits of each in their order; what was tried is known by
//      the case's digest and not tried again;
//   2. a candidate that shows the symptom becomes the least case, and its reducer's edits are made
//      anew, going on where it was;
//   3. all reducers again until a whole round changed nothing: then no single edit keeps the
//      symptom; or until the runs are used up.
// Results may come in any order and from any number of runs at a time: they are taken in the order
// of the edits, and what was run ahead in vain neither counts nor changes anything.
class Search {
public:
    Search(Reduced start, SearchTerms terms,
           const std::vector<Reducer>& passes = difffuzz::reducers());

    struct Trial {
        std::string id;  // digest of the candidate
        Reduced candidate;
    };
    // The next candidate to run, at most `ahead` (>= 1) places ahead of what is decided; nothing
    // when all of those are out or the search has ended.
    std::optional<Trial> next(std::size_t ahead = 1);
    void put(const std::string& id, TrialResult result);

    bool ended() const { return ended_; }
    // Ended with no edit left that keeps the symptom.
    bool is_minimal() const { return minimal_; }
    const Reduced& least() const { return current_; }
    std::uint64_t runs() const { return runs_; }
    // What was tried on the least case in the last round; complete when it is minimal.
    const std::vector<RefusedEdit>& refused() const { return refused_; }
    // The first case for each other symptom met, in the order of the search.
    const std::vector<Slip>& slips() const { return slips_; }

private:
    struct Prepared {
        std::optional<Reduced> candidate;  // nothing: not worth a run
        std::string id;
    };
    void load();
    void advance();
    void take(const Prepared& prepared, const TrialResult& result);
    const Prepared& prepared(std::size_t at);

    SearchTerms terms_;
    const std::vector<Reducer>& passes_;
    Reduced current_;
    std::size_t pass_ = 0;
    std::vector<Edit> edits_;  // of the pass, for the present least case
    std::vector<std::optional<Prepared>> prepared_;
    std::size_t at_ = 0;
    bool changed_ = false;  // in this round
    bool ended_ = false;
    bool minimal_ = false;
    std::uint64_t runs_ = 0;
    std::map<std::string, TrialResult> known_;
    std::set<std::string> counted_;  // of known_: taken by the search
    std::set<std::string> out_;
    std::set<std::string> former_;  // digests of all least cases so far
    std::vector<RefusedEdit> refused_;
    std::vector<Slip> slips_;
};

}  // namespace difffuzz

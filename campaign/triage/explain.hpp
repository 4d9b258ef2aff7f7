// Why a least case is what it is: what of it is needed, what is free, and how far its numbers go.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "campaign/triage/numbers.hpp"
#include "campaign/triage/search.hpp"

namespace difffuzz {

// How far a number of the case can go with the symptom still there, all else as it is.
struct NumberBounds {
    std::string thing;
    std::uint64_t least = 0;  // shows the symptom
    std::uint64_t most = 0;
    // The nearest ones that do not, if any was met: at `least` - 1 and `most` + 1, or further off
    // where what lies between is not allowed.
    std::optional<std::uint64_t> below;
    std::optional<std::uint64_t> above;
    bool free() const { return !below && !above; }
};

// A case one edit away on which both tools do the same.
struct Neighbour {
    std::string edit;  // "without option -U of step 0", "size of image src 512 instead of 1024"
    Case c;
};

struct Explanation {
    std::vector<std::string> needed;  // things without which the symptom is gone
    std::vector<NumberBounds> numbers;
    std::optional<Neighbour> agreeing;
    std::uint64_t runs = 0;
    // In words, one sentence a line; no more than a dozen.
    std::vector<std::string> lines() const;
};

nlohmann::json to_json(const Explanation& explanation);

// Finds the bounds, one run after the other: a ladder of numbers upwards from the one that is
// there, and downwards, until one does not show the symptom; then by halves between it and the last
// that does. At most `max_runs` runs; numbers that it does not come to are left out.
class Explainer {
public:
    // `refused` is what the search tried last on the least case.
    Explainer(Reduced least, const std::vector<RefusedEdit>& refused, std::uint64_t max_runs,
              std::function<bool(const Reduced&)> allowed);

    // What to run next; nothing at the end.
    const std::optional<Reduced>& wanted() const { return wanted_; }
    void put(TrialEnd end);
    const Explanation& explanation() const { return explanation_; }

private:
    enum class Phase { up, up_between, down, down_between };

    void advance();
    bool want(std::uint64_t value);
    void next_phase();
    void end_number();

    Reduced least_;
    std::uint64_t max_runs_;
    std::function<bool(const Reduced&)> allowed_;
    std::vector<NumberPlace> places_;
    std::size_t at_ = 0;
    Phase phase_ = Phase::up;
    std::size_t rung_ = 0;
    NumberBounds bounds_;      // of the number at hand
    std::uint64_t value_ = 0;  // that is wanted
    std::optional<Reduced> wanted_;
    Explanation explanation_;
};

}  // namespace difffuzz

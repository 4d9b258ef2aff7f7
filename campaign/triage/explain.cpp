#include "campaign/triage/explain.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "core/cases/recipe_json.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

// Numbers that are tried, ascending: those that disks and their structures are made of.
constexpr std::array<std::uint64_t, 7> ladder{
    0, 1, 512, 4096, 65536, std::uint64_t{1} << 20, std::uint64_t{1} << 30};
constexpr std::size_t most_lines = 12;

std::string edit_in_words(const RefusedEdit& edit) {
    return edit.becomes.empty() ? "without " + edit.thing : edit.thing + ": " + edit.becomes;
}

std::string in_words(const NumberBounds& bounds) {
    const std::string range = bounds.least == bounds.most ? std::to_string(bounds.least)
                                                          : std::to_string(bounds.least) + " to " +
                                                                std::to_string(bounds.most);
    if (bounds.free()) {
        return bounds.thing + " does not matter (" + range + " tried)";
    }
    std::string line = bounds.thing + ": " + range + " shows it";
    if (bounds.below) {
        line += ", " + std::to_string(*bounds.below) + " does not";
    }
    if (bounds.above) {
        line += std::string(bounds.below ? " and" : ",") + " " + std::to_string(*bounds.above) +
                " does not";
    }
    return line;
}

json optional_json(const std::optional<std::uint64_t>& number) {
    return number ? json(*number) : json(nullptr);
}

}  // namespace

std::vector<std::string> Explanation::lines() const {
    std::vector<std::string> result;
    for (const std::string& thing : needed) {
        result.push_back("needs " + thing);
    }
    for (const NumberBounds& bounds : numbers) {
        result.push_back(in_words(bounds));
    }
    if (result.size() >= most_lines) {
        result.resize(most_lines - 2);
        result.emplace_back("and more: see the record");
    }
    if (agreeing) {
        result.push_back("both tools agree " + agreeing->edit);
    }
    return result;
}

json to_json(const Explanation& explanation) {
    json numbers = json::array();
    for (const NumberBounds& bounds : explanation.numbers) {
        numbers.push_back({{"of", bounds.thing},
                           {"least", bounds.least},
                           {"most", bounds.most},
                           {"not_below", optional_json(bounds.below)},
                           {"not_above", optional_json(bounds.above)}});
    }
    json result{{"needed", explanation.needed},
                {"numbers", std::move(numbers)},
                {"agreeing", nullptr},
                {"runs", explanation.runs},
                {"words", explanation.lines()}};
    if (explanation.agreeing) {
        result["agreeing"] = {{"edit", explanation.agreeing->edit},
                              {"recipe", to_json(explanation.agreeing->c)}};
    }
    return result;
}

Explainer::Explainer(Reduced least, const std::vector<RefusedEdit>& refused, std::uint64_t max_runs,
                     std::function<bool(const Reduced&)> allowed)
    : least_(std::move(least)),
      max_runs_(max_runs),
      allowed_(std::move(allowed)),
      places_(numbers_of(least_)) {
    for (const RefusedEdit& edit : refused) {
        if (edit.becomes.empty() &&
            std::ranges::find(explanation_.needed, edit.thing) == explanation_.needed.end()) {
            explanation_.needed.push_back(edit.thing);
        }
        // Later edits change less: values come after what can be left out.
        if (edit.end == TrialEnd::agreed) {
            explanation_.agreeing = Neighbour{
                edit.becomes.empty() ? edit_in_words(edit) : "with " + edit_in_words(edit),
                edit.candidate};
        }
    }
    if (!places_.empty()) {
        bounds_ = {places_[0].thing, places_[0].value, places_[0].value, {}, {}};
    }
    advance();
}

bool Explainer::want(std::uint64_t value) {
    Reduced candidate = places_[at_].set(least_, value);
    if (candidate == least_ || !allowed_(candidate)) {
        return false;
    }
    value_ = value;
    wanted_ = std::move(candidate);
    return true;
}

// Looks for the next number to try, through phases and places.
void Explainer::advance() {
    while (at_ < places_.size() && explanation_.runs < max_runs_) {
        switch (phase_) {
            case Phase::up:
                for (; rung_ < ladder.size(); ++rung_) {
                    if (ladder[rung_] > bounds_.most && want(ladder[rung_])) {
                        return;
                    }
                }
                next_phase();
                break;
            case Phase::down:
                for (; rung_ < ladder.size(); ++rung_) {
                    const std::uint64_t value = ladder[ladder.size() - 1 - rung_];
                    if (value < bounds_.least && want(value)) {
                        return;
                    }
                }
                next_phase();
                break;
            case Phase::up_between:
                if (bounds_.above && *bounds_.above - bounds_.most > 1 &&
                    want(bounds_.most + (*bounds_.above - bounds_.most) / 2)) {
                    return;
                }
                next_phase();
                break;
            case Phase::down_between:
                if (bounds_.below && bounds_.least - *bounds_.below > 1 &&
                    want(*bounds_.below + (bounds_.least - *bounds_.below) / 2)) {
                    return;
                }
                next_phase();
                break;
        }
    }
}

void Explainer::next_phase() {
    rung_ = 0;
    if (phase_ == Phase::down_between) {
        end_number();
        phase_ = Phase::up;
        return;
    }
    phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
}

void Explainer::end_number() {
    // Of a number that nothing else could be put in place of there is nothing to say.
    if (!bounds_.free() || bounds_.least != bounds_.most) {
        explanation_.numbers.push_back(bounds_);
    }
    ++at_;
    if (at_ < places_.size()) {
        bounds_ = {places_[at_].thing, places_[at_].value, places_[at_].value, {}, {}};
    }
}

void Explainer::put(TrialEnd end) {
    const Reduced tried = *std::exchange(wanted_, std::nullopt);
    explanation_.runs += end == TrialEnd::timed_out ? timeout_cost : 1;
    const bool upwards = phase_ == Phase::up || phase_ == Phase::up_between;
    if (end == TrialEnd::same) {
        (upwards ? bounds_.most : bounds_.least) = value_;
        ++rung_;
    } else {
        (upwards ? bounds_.above : bounds_.below) = value_;
        if (end == TrialEnd::agreed) {
            explanation_.agreeing =
                Neighbour{"with " + places_[at_].thing + ": " + std::to_string(value_) +
                              " instead of " + std::to_string(places_[at_].value),
                          tried.c};
        }
        if (phase_ == Phase::up || phase_ == Phase::down) {
            next_phase();
        }
    }
    advance();
}

}  // namespace difffuzz

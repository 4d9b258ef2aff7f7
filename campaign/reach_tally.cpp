#include "campaign/reach_tally.hpp"

namespace difffuzz {
namespace {

void count(ReachCounts& counts, const ReachCounts& more) {
    counts.drawn += more.drawn;
    counts.compared += more.compared;
    counts.refused_by_both += more.refused_by_both;
}

}  // namespace

void ReachTally::add(const CaseReach& reach, const ReachCounts& more) {
    for (std::size_t i = 0; i < reach.options.size(); ++i) {
        count(singles_[reach.options[i]], more);
        for (std::size_t j = i + 1; j < reach.options.size(); ++j) {
            count(pairs_[{reach.options[i], reach.options[j]}], more);
        }
        for (const std::string& format : reach.formats) {
            count(pairs_[{reach.options[i], format}], more);
        }
    }
    for (const std::string& format : reach.formats) {
        count(singles_[format], more);
    }
    for (std::size_t i = 0; i < reach.features.size(); ++i) {
        // Sorted: a feature that images of several formats have stands in a row, and counts once.
        if (i == 0 || reach.features[i].first != reach.features[i - 1].first) {
            count(singles_[reach.features[i].first], more);
        }
        count(pairs_[reach.features[i]], more);
    }
}

ReachCounts ReachTally::of(const std::string& name) const {
    const auto found = singles_.find(name);
    return found == singles_.end() ? ReachCounts{} : found->second;
}

ReachCounts ReachTally::of(const std::string& first, const std::string& second) const {
    const auto found = pairs_.find({first, second});
    return found == pairs_.end() ? ReachCounts{} : found->second;
}

}  // namespace difffuzz

#include "campaign/known_tally.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace difffuzz {
namespace {

// Fewer say nothing about a share.
constexpr std::uint64_t telling_draws = 5;

std::uint64_t at(const std::map<std::string, std::uint64_t>& counts, const std::string& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
}

}  // namespace

void KnownTally::add(const CaseReport& report) {
    // A case that is steered to hold a certain pair may be dropped for the same reason many times.
    std::set<std::pair<std::string, std::string>> steered;
    for (const SteeredAway& one : report.steered) {
        if (steered.emplace(one.entry, one.operation).second) {
            ++entries_[one.entry].steered[one.operation];
            ++draws_[one.operation];
        }
    }
    if (!report.operation.empty()) {
        ++draws_[report.operation];
    }
    if (!report.known.known.empty()) {
        ++entries_[report.known.known].classified[report.operation];
    } else {
        for (const std::string& id : report.known.inside) {
            ++entries_[id].inside[report.operation];
        }
    }
    if (!report.steered.empty() || !report.known.known.empty()) {
        ++cases_;
    }
}

std::uint64_t KnownTally::draws(const std::string& operation) const {
    return at(draws_, operation);
}

std::vector<std::string> share_warnings(const KnownTally& tally, const Registry& registry) {
    std::vector<std::string> warnings;
    for (const auto& [id, counts] : tally.entries()) {
        const auto entry = std::ranges::find(registry.entries, id, &KnownDivergence::id);
        if (entry == registry.entries.end() || !entry->wide.empty()) {
            continue;
        }
        std::map<std::string, std::uint64_t> taken = counts.steered;
        for (const auto& [operation, cases] : counts.classified) {
            taken[operation] += cases;
        }
        for (const auto& [operation, cases] : taken) {
            const std::uint64_t draws = tally.draws(operation);
            if (cases >= telling_draws && cases * 100 > draws * max_share_percent) {
                warnings.push_back("known divergence '" + id + "' took " + std::to_string(cases) +
                                   " of " + std::to_string(draws) + " draws of " + operation +
                                   ", more than " + std::to_string(max_share_percent) +
                                   " %: narrow its predicate, or say in its 'wide' why not");
            }
        }
    }
    return warnings;
}

}  // namespace difffuzz

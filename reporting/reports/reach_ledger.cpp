#include "reporting/reports/reach_ledger.hpp"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ops/reach.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

struct Total {
    std::uint64_t declared = 0;
    std::uint64_t drawn = 0;
    std::uint64_t compared = 0;

    json count(const ReachCounts& counts) {
        ++declared;
        drawn += counts.drawn > 0 ? 1 : 0;
        compared += counts.compared > 0 ? 1 : 0;
        return {counts.drawn, counts.compared, counts.refused_by_both};
    }
    json shown() const {
        return {{"declared", declared}, {"drawn", drawn}, {"compared", compared}};
    }
};

bool never_compared(const json& counts) { return counts.at(1) == 0; }

// "OPERATION: A, B, C" for each operation that has any.
void add_lists(const std::vector<std::pair<std::string, std::vector<std::string>>>& lists,
               std::vector<std::string>& lines) {
    constexpr std::size_t most_lines = 20;
    constexpr std::size_t most_items = 6;
    std::size_t shown = 0;
    for (const auto& [operation, items] : lists) {
        if (items.empty()) {
            continue;
        }
        if (++shown > most_lines) {
            lines.emplace_back("  and of more operations: summary.json");
            return;
        }
        std::string line = "  " + operation + ":";
        for (std::size_t i = 0; i < items.size() && i < most_items; ++i) {
            line += (i == 0 ? " " : ", ") + items[i];
        }
        if (items.size() > most_items) {
            line += fmt::format(", and {} more: summary.json", items.size() - most_items);
        }
        lines.push_back(line);
    }
}

}  // namespace

json reach_ledger(const CampaignResult& result) {
    const Reach& reach = reach_of(result.plan);
    const auto& tallies = result.tally.reach();
    const auto tally_of = [&](const std::string& operation) {
        const auto found = tallies.find(operation);
        return found == tallies.end() ? ReachTally{} : found->second;
    };
    Total singles;
    Total pairs;
    json operations = json::object();
    for (const OperationReach& one : reach.operations()) {
        const ReachTally tally = tally_of(one.operation);
        json& shown = operations[one.operation];
        shown = {{"options", json::object()},
                 {"formats", json::object()},
                 {"features", json::object()},
                 {"pairs", json::object()}};
        for (const std::string& option : one.options) {
            shown["options"][option] = singles.count(tally.of(option));
        }
        for (const std::string& format : one.formats) {
            shown["formats"][format] = singles.count(tally.of(format));
        }
        for (const auto& [feature, format] : one.features) {
            if (!shown["features"].contains(feature)) {
                shown["features"][feature] = singles.count(tally.of(feature));
            }
        }
    }
    std::string operation;
    ReachTally tally;
    for (const ReachPair& pair : reach.pairs()) {
        if (pair.operation != operation) {
            operation = pair.operation;
            tally = tally_of(operation);
        }
        operations[operation]["pairs"][pair.first][pair.second] =
            pairs.count(tally.of(pair.first, pair.second));
    }
    json totals = pairs.shown();
    std::set<const ReachPair*> steered;
    for (std::uint64_t index = 1; index < result.iterations; index += 2) {
        if (const ReachPair* pair = reach.pair_of(result.seed, index)) {
            steered.insert(pair);
        }
        if (steered.size() == reach.pairs().size()) {
            break;
        }
    }
    totals["steered"] = steered.size();
    json not_reached = json::array();
    for (const ReachPair& pair : reach.pairs()) {
        if (steered.contains(&pair) &&
            operations[pair.operation]["pairs"][pair.first][pair.second].at(0) == 0) {
            not_reached.push_back({pair.operation, pair.first, pair.second});
        }
    }
    return {{"singles", singles.shown()},
            {"pairs", totals},
            {"not_reached", not_reached},
            {"operations", operations}};
}

std::vector<std::string> reach_lines(const json& ledger) {
    std::vector<std::pair<std::string, std::vector<std::string>>> never;
    for (const auto& operation : ledger.at("operations").items()) {
        auto& names = never.emplace_back(operation.key(), std::vector<std::string>{}).second;
        for (const char* kind : {"options", "formats", "features"}) {
            for (const auto& item : operation.value().at(kind).items()) {
                if (never_compared(item.value())) {
                    names.push_back(item.key());
                }
            }
        }
    }
    const auto line = [&](const char* kind, const char* words, const char* where) {
        const json& total = ledger.at(kind);
        const auto declared = total.at("declared").get<std::uint64_t>();
        const auto compared = total.at("compared").get<std::uint64_t>();
        return fmt::format("reach: {} of {} {} compared, {} drawn{}", compared, declared, words,
                           total.at("drawn").get<std::uint64_t>(),
                           compared == declared ? "" : where);
    };
    // There are thousands of pairs: a list of them in the midst of a summary would bury the rest.
    std::vector<std::string> lines{
        line("pairs", "pairs of options, formats and features", "; summary.json has them all"),
        line("singles", "options, formats and features", "; never compared:")};
    add_lists(never, lines);
    return lines;
}

}  // namespace difffuzz

#include "reporting/seen/comparison.hpp"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_listed_pairs = 1000;
constexpr std::size_t max_lines = 20;

json shown(const Fact& fact, const Remembered* known) {
    json bucket{{"key", fact.key}, {"severity", fact.words}};
    if (known != nullptr) {
        bucket["first"] = known->first;
        bucket["last"] = known->last;
    }
    return bucket;
}

json gone_buckets(const Memory& memory, const json& summary, const std::set<std::string>& now) {
    json gone = json::array();
    for (const auto& [key, known] : memory.facts()) {
        if (known.fact.kind == bucket_fact && !now.contains(known.fact.key) &&
            summary.at("operations").contains(known.fact.operation)) {
            gone.push_back(shown(known.fact, &known));
        }
    }
    return gone;
}

void add_buckets(const json& buckets, const char* words, std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        if (i == max_lines) {
            lines.push_back(fmt::format("  and {} more: summary.json", buckets.size() - i));
            return;
        }
        const json& bucket = buckets[i];
        lines.push_back(fmt::format(
            "  {:<12} {:<12} {}{}", words, bucket.at("severity").get<std::string>(),
            bucket.at("key").get<std::string>(),
            bucket.contains("first")
                ? fmt::format(" (first {}, last {})", bucket.at("first").get<std::string>(),
                              bucket.at("last").get<std::string>())
                : ""));
    }
}

}  // namespace

json seen_json(const Memory& memory, const json& summary) {
    json fresh = json::array();
    json before = json::array();
    std::map<std::string, std::uint64_t> known_of;  // by kind
    std::map<std::string, json> added_of;
    std::set<std::string> buckets;
    for (const Fact& fact : facts_of(summary)) {
        const Remembered* known = memory.find(fact);
        if (fact.kind == bucket_fact) {
            buckets.insert(fact.key);
            (known == nullptr ? fresh : before).push_back(shown(fact, known));
        } else if (known != nullptr) {
            ++known_of[fact.kind];
        } else {
            added_of[fact.kind].push_back(fact.kind == tool_fact ? fact.words + " " + fact.key
                                                                 : fact.key);
        }
    }
    const auto counted = [&](const char* kind) {
        json& added = added_of[kind];
        return json{{"before", known_of[kind]}, {"added", added.is_null() ? json::array() : added}};
    };
    json pairs = counted(pair_fact);
    json list = pairs.at("added");
    pairs["added"] = list.size();
    if (list.size() > max_listed_pairs) {
        list.erase(list.begin() + max_listed_pairs, list.end());
    }
    pairs["list"] = std::move(list);
    return {{"campaigns", memory.campaigns().size()},
            {"buckets",
             {{"new", std::move(fresh)},
              {"before", std::move(before)},
              {"gone", gone_buckets(memory, summary, buckets)}}},
            {"pairs", std::move(pairs)},
            {"entries", counted(entry_fact)},
            {"tools", counted(tool_fact)}};
}

std::vector<std::string> seen_lines(const json& seen) {
    const json& buckets = seen.at("buckets");
    std::vector<std::string> lines{fmt::format(
        "seen in {} earlier {}: {} buckets before, {} new, {} gone since",
        seen.at("campaigns").get<std::uint64_t>(),
        seen.at("campaigns") == 1 ? "campaign" : "campaigns", buckets.at("before").size(),
        buckets.at("new").size(), buckets.at("gone").size())};
    add_buckets(buckets.at("new"), "new", lines);
    add_buckets(buckets.at("gone"), "gone", lines);
    add_buckets(buckets.at("before"), "seen before", lines);
    lines.push_back(fmt::format(
        "added to what was seen: {} pairs compared (of {} compared here), {} known divergences "
        "entered, {} tools",
        seen.at("pairs").at("added").get<std::uint64_t>(),
        seen.at("pairs").at("added").get<std::uint64_t>() +
            seen.at("pairs").at("before").get<std::uint64_t>(),
        seen.at("entries").at("added").size(), seen.at("tools").at("added").size()));
    return lines;
}

}  // namespace difffuzz

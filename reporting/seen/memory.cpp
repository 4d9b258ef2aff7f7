#include "reporting/seen/memory.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/cases/digest.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

void add_buckets(const json& summary, std::vector<Fact>& facts) {
    for (const json& bucket : summary.at("buckets")) {
        const std::string status = bucket.at("status");
        if (status != "flaky" && !status.starts_with("known(")) {
            facts.push_back({bucket_fact,
                             bucket.at("type").get<std::string>() + "-" +
                                 bucket.at("fingerprint").get<std::string>(),
                             bucket.at("symptom").at("operation"), bucket.at("severity")});
        }
    }
}

void add_pairs(const json& summary, std::vector<Fact>& facts) {
    for (const auto& operation : summary.at("reach").at("operations").items()) {
        for (const auto& first : operation.value().at("pairs").items()) {
            for (const auto& second : first.value().items()) {
                // [drawn, compared, refused by both]
                if (second.value().at(1) > 0) {
                    facts.push_back({pair_fact,
                                     operation.key() + ": " + first.key() + ", " + second.key(),
                                     operation.key(),
                                     {}});
                }
            }
        }
    }
}

void add_entries(const json& summary, std::vector<Fact>& facts) {
    for (const auto& entry : summary.at("known").at("entries").items()) {
        facts.push_back({entry_fact, entry.key(), {}, {}});
    }
}

void add_tools(const json& summary, std::vector<Fact>& facts) {
    for (const char* role : {"subject", "reference", "baseline"}) {
        if (summary.contains(role)) {
            facts.push_back(
                {tool_fact,
                 summary.at(role).at("identity"),
                 {},
                 std::string(role) + " " + summary.at(role).at("version").get<std::string>()});
        }
    }
}

}  // namespace

std::vector<Fact> facts_of(const json& summary) {
    std::vector<Fact> facts;
    add_buckets(summary, facts);
    add_pairs(summary, facts);
    add_entries(summary, facts);
    add_tools(summary, facts);
    const auto key = [](const Fact& fact) { return std::tie(fact.kind, fact.key); };
    std::ranges::stable_sort(facts, {}, key);
    const auto repeated = std::ranges::unique(facts, {}, key);
    facts.erase(repeated.begin(), repeated.end());
    return facts;
}

std::string campaign_key(const json& summary) {
    return sha256_hex(json{summary.at("seed"), summary.at("iterations"), summary.at("plan"),
                           summary.at("subject").at("identity"),
                           summary.at("reference").at("identity")}
                          .dump())
        .substr(0, 16);
}

void Memory::add(const std::string& campaign, const std::vector<Fact>& facts,
                 const std::string& date) {
    const bool fresh = campaigns_.insert(campaign).second;
    for (const Fact& fact : facts) {
        Remembered& known =
            facts_.try_emplace({fact.kind, fact.key}, Remembered{fact, date, date, 0})
                .first->second;
        known.first = std::min(known.first, date);
        known.last = std::max(known.last, date);
        known.campaigns += fresh || known.campaigns == 0 ? 1U : 0U;
    }
}

void Memory::put(Remembered remembered) {
    Key key{remembered.fact.kind, remembered.fact.key};
    facts_.insert_or_assign(std::move(key), std::move(remembered));
}

const Remembered* Memory::find(const Fact& fact) const {
    const auto found = facts_.find({fact.kind, fact.key});
    return found == facts_.end() ? nullptr : &found->second;
}

}  // namespace difffuzz

// What earlier campaigns found and compared: facts with the dates of their first and last sight.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace difffuzz {

// Kinds of facts.
inline constexpr const char* bucket_fact = "bucket";  // key TYPE-FINGERPRINT, words: severity
inline constexpr const char* pair_fact = "pair";      // key "OPERATION: A, B", compared
inline constexpr const char* entry_fact = "entry";    // key: id of a known divergence, entered
inline constexpr const char* tool_fact = "tool";      // key: identity, words: role and version

struct Fact {
    std::string kind;
    std::string key;
    std::string operation;  // of buckets and pairs, else empty
    std::string words;
};

// The facts of a summary (difffuzz.summary/1), each once. Flaky buckets, and those that a known
// divergence covers, are none. Throws nlohmann::json::exception for what is no summary.
std::vector<Fact> facts_of(const nlohmann::json& summary);

// Names a campaign by its seed, size, plan and tools: equal for a campaign and its repetition.
std::string campaign_key(const nlohmann::json& summary);

struct Remembered {
    Fact fact;
    std::string first;  // YYYY-MM-DD, UTC
    std::string last;
    std::uint64_t campaigns = 0;
};

class Memory {
public:
    using Key = std::pair<std::string, std::string>;  // kind and key of a fact

    // A campaign that is there already changes nothing but dates.
    void add(const std::string& campaign, const std::vector<Fact>& facts, const std::string& date);
    // One that was stored.
    void put(Remembered remembered);
    void put_campaign(std::string campaign) { campaigns_.insert(std::move(campaign)); }

    const std::map<Key, Remembered>& facts() const { return facts_; }
    const std::set<std::string>& campaigns() const { return campaigns_; }
    // Null where it was never seen.
    const Remembered* find(const Fact& fact) const;

private:
    std::map<Key, Remembered> facts_;
    std::set<std::string> campaigns_;
};

}  // namespace difffuzz

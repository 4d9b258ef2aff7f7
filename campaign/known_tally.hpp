// What known divergences took of a campaign's cases.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "campaign/workers/messages.hpp"

namespace difffuzz {

struct KnownCounts {
    std::map<std::string, std::uint64_t> steered;     // operation -> cases it moved
    std::map<std::string, std::uint64_t> classified;  // operation -> cases that showed its effect
    std::map<std::string, std::uint64_t> inside;      // ... that showed another one: new
};

class KnownTally {
public:
    void add(const CaseReport& report);

    // Entry id -> counts; entries that took nothing are not there.
    const std::map<std::string, KnownCounts>& entries() const { return entries_; }
    // Cases that an entry moved to a later attempt, exhausted, or covered.
    std::uint64_t cases() const { return cases_; }
    // Of an operation: its cases, and those of its that an entry moved, once for each entry.
    std::uint64_t draws(const std::string& operation) const;

private:
    std::map<std::string, KnownCounts> entries_;
    std::map<std::string, std::uint64_t> draws_;
    std::uint64_t cases_ = 0;
};

// One sentence for each entry that took more than max_share_percent of an operation's draws, and
// more than a few, without saying why it is wide.
std::vector<std::string> share_warnings(const KnownTally& tally, const Registry& registry);

}  // namespace difffuzz

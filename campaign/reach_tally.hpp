// How often what pickers can draw was drawn and compared: one operation's part of the ledger.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "pickers/case_reach.hpp"

namespace difffuzz {

struct ReachCounts {
    std::uint64_t drawn = 0;
    std::uint64_t compared = 0;  // beyond exit and code, and not refused by both
    std::uint64_t refused_by_both = 0;
    bool operator==(const ReachCounts&) const = default;
};

class ReachTally {
public:
    // Counts `more` for all that the case holds and for each pair of it.
    void add(const CaseReach& reach, const ReachCounts& more);

    // An option, a format, or a feature of whatever format; zeros for what was never drawn.
    ReachCounts of(const std::string& name) const;
    // Two options in their order, an option and a format, or a feature and the format that had it.
    ReachCounts of(const std::string& first, const std::string& second) const;

private:
    std::map<std::string, ReachCounts> singles_;
    std::map<std::pair<std::string, std::string>, ReachCounts> pairs_;
};

}  // namespace difffuzz

// Results are committed in index order, whatever the order they came in: what is kept and when to
// stop is decided here, so that it is the same for any number of workers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "campaign/evidence/journal.hpp"
#include "campaign/tally.hpp"

namespace difffuzz {

class Committer {
public:
    // `directory` is the evidence; tally and journal outlive this.
    Committer(std::string directory, Journal& journal, Tally& tally,
              std::optional<std::uint64_t> max_new, std::uint64_t next);

    // Takes a result in any order and commits all that are next in line. Moves what was staged for
    // them to records/, or removes it.
    void accept(CaseReport report);

    std::uint64_t next() const { return next_; }
    // The K-th new symptom was committed; nothing is committed any more.
    bool reached_max_new() const { return reached_max_new_; }

    // Name of the staging directory of a case.
    static std::string stage_name(std::uint64_t index);

    // Called with the key of a bucket that has all the records it keeps.
    std::function<void(const std::string&)> on_saturated;

private:
    void commit(const CaseReport& report);

    std::string directory_;
    Journal& journal_;
    Tally& tally_;
    std::optional<std::uint64_t> max_new_;
    std::uint64_t next_;
    std::map<std::uint64_t, CaseReport> waiting_;
    bool reached_max_new_ = false;
};

}  // namespace difffuzz

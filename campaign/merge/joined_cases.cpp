#include "campaign/merge/joined_cases.hpp"

#include <sys/resource.h>

#include "campaign/evidence/journal.hpp"
#include "campaign/triage/triage.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

// One shard's journal, at its next case.
class ShardJournal {
public:
    explicit ShardJournal(const ShardEvidence& shard) : shard_(shard), reader_(shard.directory) {
        advance();
    }

    CaseReport take(std::uint64_t index) {
        if (next_ && next_->index == index) {
            CaseReport report = *std::move(next_);
            advance();
            return report;
        }
        lacking_ = true;
        CaseReport report;
        report.index = index;
        report.terminal = Terminal::untested;
        return report;
    }

    bool lacking() const { return lacking_; }

    // To be asked when all cases are taken.
    std::vector<TriageResult> triaged() const {
        if (next_) {
            throw EnvironmentError("the journal in '" + shard_.directory + "' has case " +
                                   std::to_string(next_->index) + " out of its place");
        }
        return triaged_before(reader_.state(), shard_.directory);
    }

private:
    void advance() {
        do {
            next_ = reader_.next();
        } while (next_ && next_->terminal == Terminal::outside_shard);
        if (next_ && !shard_.shard.holds(next_->index)) {
            throw EnvironmentError("the journal in '" + shard_.directory + "' has case " +
                                   std::to_string(next_->index) + ", which is another shard's");
        }
    }

    const ShardEvidence& shard_;
    JournalReader reader_;
    std::optional<CaseReport> next_;
    bool lacking_ = false;
};

// A journal each is open; the usual limit is 1024.
void allow_open_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

}  // namespace

JoinedCases join_cases(const ShardSet& set, const std::function<void(const CaseReport&)>& take) {
    allow_open_files();
    std::vector<std::unique_ptr<ShardJournal>> journals(set.count());
    for (const ShardEvidence& shard : set.shards) {
        journals[shard.shard.index] = std::make_unique<ShardJournal>(shard);
    }
    for (std::uint64_t index = 0; index < set.iterations(); ++index) {
        const auto& journal = journals[index % set.count()];
        if (journal) {
            take(journal->take(index));
        } else {
            CaseReport report;
            report.index = index;
            take(report);
        }
    }
    JoinedCases joined;
    for (const ShardEvidence& shard : set.shards) {
        const ShardJournal& journal = *journals[shard.shard.index];
        std::ranges::move(journal.triaged(), std::back_inserter(joined.triaged));
        if (journal.lacking() && shard.campaign.at("state") == "complete") {
            joined.gaps.push_back("the journal in '" + shard.directory +
                                  "' lacks cases, though the shard is complete");
        }
    }
    return joined;
}

}  // namespace difffuzz

#include "campaign/commit.hpp"

#include "campaign/evidence/files.hpp"

namespace difffuzz {

Committer::Committer(std::string directory, Journal& journal, Tally& tally,
                     std::optional<std::uint64_t> max_new, std::uint64_t next)
    : directory_(std::move(directory)),
      journal_(journal),
      tally_(tally),
      max_new_(max_new),
      next_(next),
      reached_max_new_(max_new && tally.new_buckets() >= *max_new) {}

std::string Committer::stage_name(std::uint64_t index) { return "case-" + std::to_string(index); }

void Committer::accept(CaseReport report) {
    waiting_.emplace(report.index, std::move(report));
    for (auto ready = waiting_.find(next_); ready != waiting_.end() && !reached_max_new_;
         ready = waiting_.find(next_)) {
        commit(ready->second);
        waiting_.erase(ready);
        ++next_;
    }
}

void Committer::commit(const CaseReport& report) {
    const std::string staged = directory_ + "/staging/" + stage_name(report.index);
    const bool keep = report.staged && tally_.wants_record(report.bucket_key());
    tally_.add(report);
    if (keep) {
        const Bucket& bucket = tally_.buckets().at(report.bucket_key());
        const std::string parent = directory_ + "/" + bucket.directory();
        make_evidence_directories(parent);
        const std::string target = parent + "/" + std::to_string(report.index);
        // Left by a run that ended between the move and the journal's line.
        remove_tree(target);
        move_directory(staged, target);
        if (!tally_.wants_record(report.bucket_key()) && on_saturated) {
            on_saturated(report.bucket_key());
        }
    } else if (report.staged) {
        remove_tree(staged);
    }
    // What is left out of the journal is outside the shard: of a thousand shards each would
    // otherwise write a line for every case of the others.
    if (report.terminal != Terminal::outside_shard) {
        journal_.committed(report);
    }
    reached_max_new_ = max_new_ && tally_.new_buckets() >= *max_new_;
}

}  // namespace difffuzz

#include "campaign/merge/joined_records.hpp"

#include <algorithm>
#include <filesystem>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/record.hpp"
#include "campaign/triage/place.hpp"
#include "core/cases/json_fields.hpp"
#include "core/cases/symptom.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Joiner {
public:
    Joiner(const ShardSet& set, const JoinedTriage& triage, const std::string& directory)
        : set_(set), triage_(triage), directory_(directory) {}

    void join_bucket(const Bucket& bucket) const {
        const std::string key = symptom_key(symptom_from_json(bucket.symptom));
        for (const std::uint64_t index : bucket.kept) {
            const std::string seen = bucket.directory() + "/" + std::to_string(index);
            const TriageResult* done =
                bucket.known.empty() ? result(triage_.of_shards, index, key, "") : nullptr;
            const TriageResult* taken =
                bucket.known.empty() ? result(triage_.taken, index, key, "") : nullptr;
            const std::string from = done != nullptr && done->status == "new" ? place(*done) : seen;
            if (taken == nullptr) {
                copy(from, seen, index);
                if (done != nullptr) {
                    restore_first_seen(directory_ + "/" + seen);
                }
            } else {
                copy(from, from, index);
                if (index != bucket.kept.front()) {
                    drop_explanation(directory_ + "/" + from);
                }
            }
        }
    }

    void join_slip(const TriageResult& slip) const {
        copy(place(slip), place(slip), slip.iteration);
    }

    void copy(const std::string& from, const std::string& to, std::uint64_t index) const {
        const auto shard = std::ranges::find_if(
            set_.shards, [&](const ShardEvidence& one) { return one.shard.holds(index); });
        const std::string source = shard->directory + "/" + from;
        if (!fs::is_directory(fs::symlink_status(source))) {
            throw EnvironmentError("'" + source +
                                   "' is not there, though the shard's journal tells of it; give "
                                   "the whole evidence of the shard");
        }
        copy_tree(source, directory_ + "/" + to);
    }

private:
    static const TriageResult* result(const std::vector<TriageResult>& results, std::uint64_t index,
                                      const std::string& key, const std::string& slipped_from) {
        const auto found = std::ranges::find_if(results, [&](const TriageResult& one) {
            return one.iteration == index && one.symptom_key == key &&
                   one.slipped_from == slipped_from;
        });
        return found == results.end() ? nullptr : &*found;
    }

    static std::string place(const TriageResult& result) {
        return record_directory(result.type, result.fingerprint, result.iteration);
    }

    // Each shard explains the first case of a symptom; a campaign only the first of all.
    static void drop_explanation(const std::string& directory) {
        json record = read_record(directory + "/record.json");
        if (record.erase("explanation") > 0) {
            write_file(directory, "record.json", record.dump(2) + "\n");
        }
    }

    const ShardSet& set_;
    const JoinedTriage& triage_;
    const std::string& directory_;
};

}  // namespace

void join_records(const ShardSet& set, const Tally& tally, const JoinedTriage& triage,
                  const std::vector<std::pair<std::string, std::uint64_t>>& killed,
                  const std::string& directory) {
    const Joiner joiner(set, triage, directory);
    try {
        for (const auto& [key, bucket] : tally.buckets()) {
            joiner.join_bucket(bucket);
        }
    } catch (const RecipeError& error) {
        throw UsageError(std::string("a record of a shard is not one of difffuzz: ") +
                         error.what());
    }
    for (const TriageResult& result : triage.taken) {
        if (!result.slipped_from.empty() && result.status == "new") {
            joiner.join_slip(result);
        }
    }
    for (const auto& [operation, index] : killed) {
        const std::string path =
            "records/" + operation + "_harness_killed/" + std::to_string(index);
        joiner.copy(path, path, index);
    }
    for (const auto& [index, side] : tally.hangs()) {
        // The operation that the case is filed under is known by its place alone.
        for (const ShardEvidence& shard : set.shards) {
            if (!shard.shard.holds(index) || !fs::is_directory(shard.directory + "/hangs")) {
                continue;
            }
            for (const auto& group : fs::directory_iterator(shard.directory + "/hangs")) {
                const std::string path =
                    "hangs/" + group.path().filename().string() + "/" + std::to_string(index);
                if (fs::is_directory(shard.directory + "/" + path)) {
                    joiner.copy(path, path, index);
                }
            }
        }
    }
}

}  // namespace difffuzz

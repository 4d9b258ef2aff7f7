#include "campaign/merge/shard_set.hpp"

#include <algorithm>
#include <filesystem>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/layout.hpp"
#include "campaign/evidence/lock.hpp"
#include "campaign/terms.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t max_summary_bytes = std::size_t{64} << 20;
// Names of missing shards that one sentence lists.
constexpr std::size_t most_named = 10;

std::string shown(const Shard& shard) {
    return std::to_string(shard.index + 1) + "/" + std::to_string(shard.count);
}

bool exists(const std::string& path) {
    std::error_code error;
    return fs::exists(fs::symlink_status(path, error));
}

json read_summary(const std::string& directory) {
    const std::string path = directory + "/summary.json";
    if (!exists(path)) {
        return nullptr;
    }
    try {
        json summary =
            parse_bounded(read_evidence_file(path, max_summary_bytes), max_summary_bytes, 64);
        ObjectFields fields(summary, "");
        fields.array("controls", 64);
        fields.array("unavailable", 4096);
        if (!fields.required("figures").is_object()) {
            throw RecipeError("/figures", "must be an object");
        }
        return summary;
    } catch (const RecipeError& error) {
        throw UsageError("'" + path + "' is not a summary of difffuzz: " + error.what());
    }
}

ShardEvidence read_shard(const std::string& directory) {
    ShardEvidence shard;
    shard.directory = directory;
    shard.lock = share_evidence(directory);
    shard.campaign = read_campaign(directory);
    const json& place = shard.campaign.at("terms").at("shard");
    shard.shard = {place.at("index"), place.at("count")};
    shard.plan = read_campaign_plan(directory);
    shard.summary = read_summary(directory);
    if (!shard.campaign.at("terms").value("baseline", json()).is_null()) {
        throw UsageError("'" + directory +
                         "' was held against a baseline, which is for whole campaigns: run the "
                         "shards without --baseline");
    }
    if (shard.campaign.at("terms").at("iterations") >= unbounded_iterations) {
        throw UsageError("'" + directory +
                         "' was bounded by --duration alone; only campaigns with --iterations have "
                         "shards");
    }
    return shard;
}

// Throws for the first that differs.
void require_one_campaign(const ShardEvidence& first, const ShardEvidence& other) {
    const auto refuse = [&](const std::string& what, const std::string& before,
                            const std::string& now) {
        throw UsageError("'" + first.directory + "' and '" + other.directory +
                         "' are not shards of one campaign: " + what + " is " + before +
                         " in the first and " + now + " in the second; merge what was run alike");
    };
    if (first.shard.count != other.shard.count) {
        refuse("the number of shards", std::to_string(first.shard.count),
               std::to_string(other.shard.count));
    }
    if (const auto difference =
            terms_difference({first.campaign, first.plan}, {other.campaign, other.plan})) {
        refuse(difference->what, difference->before, difference->now);
    }
    for (const auto& [field, words] :
         {std::pair{"limits", "the set of limits"},
          std::pair{"thresholds", "the set of thresholds"},
          std::pair{"reference_varies", "what the reference does not repeat"}}) {
        if (first.campaign.value(field, json()) != other.campaign.value(field, json())) {
            refuse(words, first.campaign.value(field, json()).dump(),
                   other.campaign.value(field, json()).dump());
        }
    }
    if (!first.summary.is_null() && !other.summary.is_null() &&
        first.summary.at("unavailable") != other.summary.at("unavailable")) {
        refuse("the list of operations that are not available",
               first.summary.at("unavailable").dump(), other.summary.at("unavailable").dump());
    }
}

void add_missing(ShardSet& set) {
    std::vector<std::string> missing;
    std::uint64_t number = 0;
    auto next = set.shards.begin();
    for (std::uint64_t index = 0; index < set.count(); ++index) {
        if (next != set.shards.end() && next->shard.index == index) {
            ++next;
        } else if (++number <= most_named) {
            missing.push_back(shown({index, set.count()}));
        }
    }
    if (number == 0) {
        return;
    }
    std::string names;
    for (const std::string& name : missing) {
        names += (names.empty() ? "" : ", ") + name;
    }
    set.gaps.push_back((number == 1 ? "shard " : "shards ") + names +
                       (number > most_named
                            ? " and " + std::to_string(number - most_named) + " more are missing"
                        : number == 1 ? " is missing"
                                      : " are missing"));
}

}  // namespace

ShardSet read_shards(const std::vector<std::string>& directories) {
    ShardSet set;
    for (const std::string& directory : directories) {
        if (fs::is_directory(directory) && !exists(directory + "/campaign.json")) {
            set.gaps.push_back("'" + directory +
                               "' is empty: that shard did not get to its first case");
            continue;
        }
        set.shards.push_back(read_shard(directory));
    }
    if (set.shards.empty()) {
        throw UsageError("there is no campaign in '" + directories.front() +
                         "' nor in any other of the directories; name what the shards' --out "
                         "named");
    }
    std::ranges::stable_sort(set.shards, {},
                             [](const ShardEvidence& shard) { return shard.shard.index; });
    const ShardEvidence& first = set.shards.front();
    for (const ShardEvidence& shard : set.shards) {
        require_one_campaign(first, shard);
    }
    const auto twice = std::ranges::adjacent_find(
        set.shards, {}, [](const ShardEvidence& shard) { return shard.shard.index; });
    if (twice != set.shards.end()) {
        throw UsageError("shard " + shown(twice->shard) + " is given twice: '" + twice->directory +
                         "' and '" + std::next(twice)->directory + "'; drop one of them");
    }
    for (const ShardEvidence& shard : set.shards) {
        if (shard.campaign.at("state") != "complete") {
            set.gaps.push_back("shard " + shown(shard.shard) +
                               " is unfinished; continue it with "
                               "'difffuzz run --resume --out " +
                               shard.directory + "'");
        } else if (shard.summary.is_null()) {
            set.gaps.push_back("shard " + shown(shard.shard) + " has no summary.json in '" +
                               shard.directory + "'");
        } else if (shard.shard.index >= set.iterations()) {
            set.gaps.push_back("shard " + shown(shard.shard) + " is empty: there are only " +
                               std::to_string(set.iterations()) + " cases");
        }
    }
    add_missing(set);
    return set;
}

}  // namespace difffuzz

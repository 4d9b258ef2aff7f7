#include "campaign/merge/merge.hpp"

#include <algorithm>
#include <filesystem>

#include "campaign/case_source.hpp"
#include "campaign/evidence/files.hpp"
#include "campaign/evidence/journal.hpp"
#include "campaign/evidence/layout.hpp"
#include "campaign/merge/joined_cases.hpp"
#include "campaign/merge/joined_records.hpp"
#include "campaign/triage/triage.hpp"
#include "core/cases/json_fields.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

Registry registry_of(const Plan& plan, const std::string& directory) {
    Registry known = load_registry(plan.registry_mode, directory);
    if (registry_digest(known.files) != plan.registry_digest) {
        throw UsageError(
            "the shards were run with other known divergences than these; give the same "
            "--known-dir as they had, and merge with the difffuzz that ran them");
    }
    return known;
}

// What all machines had in force.
Containment common_containment(const ShardSet& set) {
    Containment common = containment_from_json(set.shards.front().campaign.at("containment"));
    for (const ShardEvidence& shard : set.shards) {
        const Containment one = containment_from_json(shard.campaign.at("containment"));
        common.pid_namespace &= one.pid_namespace;
        common.landlock &= one.landlock;
        common.landlock_abi = std::min(common.landlock_abi, one.landlock_abi);
        common.memory_cgroup &= one.memory_cgroup;
        common.no_new_privileges &= one.no_new_privileges;
        common.unprivileged_user &= one.unprivileged_user;
    }
    return common;
}

// Controls and operations that are not available, as the first shard that ended tells them: they
// are the same cases on the same tools.
void take_over_controls(const ShardSet& set, CampaignResult& result) {
    const auto told = std::ranges::find_if(
        set.shards, [](const ShardEvidence& shard) { return !shard.summary.is_null(); });
    if (told == set.shards.end()) {
        return;
    }
    for (const json& control : told->summary.at("controls")) {
        result.controls.push_back({control.at("name"), control.at("passed"), control.at("line")});
    }
    for (const json& one : told->summary.at("unavailable")) {
        result.unavailable.push_back(
            {one.at("operation"), one.at("tool"), one.at("outcome"), one.at("words")});
    }
}

// Sums over the machines; of memory the most that any took.
void add_figures(const ShardSet& set, CampaignResult& result) {
    for (const ShardEvidence& shard : set.shards) {
        if (shard.summary.is_null()) {
            continue;
        }
        const json& figures = shard.summary.at("figures");
        const auto most = [&](std::uint64_t& peak, const char* name) {
            peak = std::max(peak, figures.at(name).get<std::uint64_t>());
        };
        result.seconds += figures.at("seconds").get<double>();
        result.usage.own_cpu_us += figures.at("workers_cpu_us").get<std::uint64_t>();
        result.usage.tools_cpu_us += figures.at("tools_cpu_us").get<std::uint64_t>();
        result.coordinator_cpu_us += figures.at("coordinator_cpu_us").get<std::uint64_t>();
        most(result.usage.peak_memory_bytes, "workers_peak_bytes");
        most(result.coordinator_peak_bytes, "coordinator_peak_bytes");
    }
}

// campaign.json of the whole: the first shard's, without what is a machine's own.
json merged_campaign(const ShardSet& set, const Containment& containment,
                     const std::string& state) {
    json campaign = set.shards.front().campaign;
    campaign["state"] = state;
    campaign["terms"]["shard"] = {{"index", 0}, {"count", 1}};
    campaign["containment"] = to_json(containment);
    campaign["runs"] = json::array();
    campaign["shards"] = json::array();
    for (const ShardEvidence& shard : set.shards) {
        json one{{"index", shard.shard.index},
                 {"count", shard.shard.count},
                 {"state", shard.campaign.at("state")},
                 {"containment", shard.campaign.at("containment")}};
        one["runs"] = shard.campaign.at("runs");
        campaign["shards"].push_back(std::move(one));
    }
    return campaign;
}

void take_over_patch(const std::string& shard, const Evidence& evidence) {
    const std::string name(patch_name);
    if (std::filesystem::exists(std::filesystem::symlink_status(shard + "/" + name))) {
        write_file(evidence.root.get(), name,
                   read_evidence_file(shard + "/" + name, max_patch_bytes));
    }
}

// Takes each item's result from the shards'. False when there is one that none of them has.
bool take_results(const std::vector<TriageResult>& of_shards, std::vector<TriageItem>& wave,
                  std::size_t& missing) {
    for (TriageItem& item : wave) {
        item.result = result_in(of_shards, item);
        if (!item.result) {
            ++missing;
        } else if (!item.sighting.explain) {
            item.result->explanation.clear();
        }
    }
    return missing == 0;
}

CampaignResult merge(const MergeOptions& options, const std::string& directory) {
    ShardSet set = read_shards(options.shards);
    const ShardEvidence& first = set.shards.front();
    CampaignResult result;
    result.plan = first.plan;
    result.known = registry_of(first.plan, options.known_directory);
    result.subject = profile_from_json(first.campaign.at("subject"), "/subject");
    result.reference = profile_from_json(first.campaign.at("reference"), "/reference");
    result.containment = common_containment(set);
    result.seed = first.campaign.at("terms").at("seed");
    result.iterations = set.iterations();
    result.determinism =
        parse_determinism(first.campaign.at("terms").at("determinism").get<std::string>());
    result.reference_varies = first.campaign.at("reference_varies").get<std::vector<std::string>>();
    take_over_controls(set, result);
    add_figures(set, result);

    const Evidence evidence = open_evidence(directory, false);
    write_file(evidence.root.get(), "plan.json", to_json(result.plan).dump(2) + "\n");
    write_campaign(evidence, merged_campaign(set, result.containment, "incomplete"));
    take_over_patch(first.directory, evidence);

    const std::string staging = directory + "/staging";
    Journal journal(staging);
    std::vector<std::pair<std::string, std::uint64_t>> killed;
    JoinedCases joined = join_cases(set, [&](const CaseReport& report) {
        result.tally.add(report);
        journal.committed(report);
        if (report.terminal == Terminal::harness_killed) {
            killed.emplace_back(report.operation, report.index);
        }
    });
    std::ranges::move(joined.gaps, std::back_inserter(set.gaps));

    std::size_t missing = 0;
    if (first.campaign.at("terms").at("triage_runs") > 0) {
        bool done = false;
        result.triage = triage_in_waves(
            result.tally, false,
            [&](std::vector<TriageItem>& wave) {
                return take_results(joined.triaged, wave, missing);
            },
            done);
    }
    if (missing > 0) {
        set.gaps.push_back(std::to_string(missing) +
                           (missing == 1 ? " divergence is" : " divergences are") +
                           " not confirmed and shrunk yet; 'difffuzz run --resume --out " +
                           directory + "' with both tools does that");
    }
    join_records(set, result.tally, {joined.triaged, result.triage}, killed, directory);
    for (const TriageResult& one : result.triage) {
        journal.triaged(to_json(one));
    }
    journal.sync();
    move_directory(staging + "/journal.ndjson", directory + "/journal.ndjson");
    result.slips_left_out = slips_left_out(result.tally, result.triage);
    result.tally.set_buckets(buckets_after(result.tally, result.triage));

    const json& thresholds = first.campaign.at("thresholds");
    VerdictTerms terms;
    terms.iterations = result.iterations;
    terms.min_compared = thresholds.at("min_compared");
    terms.max_inconclusive = thresholds.at("max_inconclusive");
    terms.null_run = result.subject.identity == result.reference.identity;
    terms.known_mode = result.plan.registry_mode;
    terms.determinism = result.determinism;
    result.verdict = judge(result.tally, terms);
    if (!set.gaps.empty()) {
        result.verdict.exit = ExitCode::no_verdict;
        result.verdict.line = "no verdict: incomplete: " + set.gaps.front();
        result.verdict.reasons.insert(result.verdict.reasons.begin(), set.gaps.begin(),
                                      set.gaps.end());
    }
    remove_tree(staging);
    write_campaign(evidence, merged_campaign(set, result.containment,
                                             set.gaps.empty() ? "complete" : "incomplete"));
    return result;
}

}  // namespace

CampaignResult merge_shards(const MergeOptions& options) {
    const std::string directory = std::filesystem::absolute(options.directory).lexically_normal();
    if (std::filesystem::exists(directory + "/campaign.json")) {
        throw UsageError("'" + options.directory +
                         "' holds a campaign already; the first directory that merge takes is a "
                         "new one, the others are the shards");
    }
    try {
        return merge(options, directory);
    } catch (const json::exception&) {
        throw UsageError(
            "a campaign.json or summary.json of the shards was written by another difffuzz: a "
            "field is missing or of another type; merge with the difffuzz that ran them");
    }
}

}  // namespace difffuzz

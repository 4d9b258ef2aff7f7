#include "campaign/fault_buckets.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/record.hpp"
#include "campaign/triage/place.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/tools/stand_in.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

LeastCase least_case(const json& record) {
    const Case c = case_from_json(record.at("recipe"));
    LeastCase least;
    least.commands = c.steps.size();
    for (const ImageRecipe& image : c.images) {
        least.writes += image.content.size();
    }
    least.runs = record.at("shrinking").at("runs");
    return least;
}

bool counts(const Bucket& bucket, bool both) {
    return bucket.known.empty() && bucket.status == "new" &&
           (both || bucket.severity != to_string(Severity::reference));
}

FaultBuckets campaign_of(const FaultBucketsOptions& options,
                         const std::vector<PlantedFault>& faults, std::uint64_t cases) {
    FaultBuckets row;
    bool both = false;
    std::set<std::string> operations;
    for (const PlantedFault& fault : faults) {
        row.fault += (row.fault.empty() ? "" : std::string(1, stand_in::fault_separator));
        row.fault += fault.name;
        operations.insert(fault.operation);
        both |= fault.both;
    }
    CampaignOptions campaign = options.campaign;
    campaign.operations.clear();
    for (const std::string& operation : operations) {
        campaign.operations.push_back({operation, 1});
    }
    campaign.iterations = row.cases = cases;
    campaign.roles = {"canary", both ? "canary" : "reference", row.fault};
    campaign.known_mode = known_off;
    campaign.directory = options.scratch + "/evidence";
    const CampaignResult result = run_campaign(campaign, {});
    if (const std::uint64_t flaky = result.tally.buckets_of("flaky"); flaky > 0) {
        row.failure = std::to_string(flaky) + " of its buckets come and go";
    }
    for (const auto& [key, bucket] : result.tally.buckets()) {
        if (!counts(bucket, both)) {
            continue;
        }
        row.buckets.push_back({bucket.type + "-" + bucket.fingerprint,
                               symptom_key(symptom_from_json(bucket.symptom)), bucket.features});
        for (const std::uint64_t index : bucket.kept) {
            const json record = read_record(
                campaign.directory + "/" +
                record_directory(bucket.type, bucket.fingerprint, index) + "/record.json");
            if (record.contains("shrinking")) {
                row.least.push_back(least_case(record));
            }
        }
    }
    std::ranges::sort(row.buckets, {}, &CountedBucket::name);
    remove_tree(campaign.directory);
    return row;
}

}  // namespace

FaultBuckets buckets_of_fault(const FaultBucketsOptions& options, const PlantedFault& fault) {
    FaultBuckets row = campaign_of(options, {fault}, options.campaign.iterations);
    if (row.failure.empty() && row.buckets.empty() && fault.budget > row.cases) {
        row = campaign_of(options, {fault}, fault.budget);
    }
    return row;
}

FaultBuckets buckets_of_faults(const FaultBucketsOptions& options,
                               const std::vector<PlantedFault>& faults) {
    return campaign_of(options, faults, options.campaign.iterations);
}

std::map<std::string, std::vector<std::string>> shared_buckets(
    const std::vector<FaultBuckets>& rows) {
    std::map<std::string, std::vector<std::string>> by_bucket;
    for (const FaultBuckets& row : rows) {
        for (const CountedBucket& bucket : row.buckets) {
            by_bucket[bucket.name].push_back(row.fault);
        }
    }
    std::erase_if(by_bucket, [](const auto& one) { return one.second.size() < 2; });
    return by_bucket;
}

std::uint64_t median(std::vector<std::uint64_t> numbers) {
    if (numbers.empty()) {
        return 0;
    }
    std::ranges::sort(numbers);
    return numbers[(numbers.size() - 1) / 2];
}

}  // namespace difffuzz

#include "reporting/found_buckets.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/journal.hpp"
#include "campaign/evidence/record.hpp"
#include "campaign/tally.hpp"
#include "campaign/triage/triage.hpp"
#include "core/cases/json_fields.hpp"
#include "core/cases/symptom.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t max_name = 256;

int severity_rank(const std::string& name) {
    const auto severity = parse_severity(name);
    return severity ? static_cast<int>(*severity) : 99;
}

bool is_fingerprint(const std::string& text) {
    return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

FoundBucket read_bucket(const std::string& path) {
    try {
        const std::string text = read_evidence_file(path, max_record_bytes);
        parse_record(text);  // for its checks
        FoundBucket bucket;
        bucket.record = parse_bounded(text, max_record_bytes, 128);
        ObjectFields fields(bucket.record, "");
        bucket.type = fields.text("type", max_name);
        bucket.status = fields.text("status", max_name);
        bucket.operation = fields.text("operation", max_name);
        bucket.index = fields.number("iteration", 0, UINT64_MAX);
        fields.number("seed", 0, UINT64_MAX);
        if (bucket.record.contains("fingerprint")) {
            bucket.fingerprint = fields.text("fingerprint", max_name);
            bucket.severity = fields.text("severity", max_name);
            if (!is_fingerprint(bucket.fingerprint)) {
                throw RecipeError("/fingerprint", "must be 16 hexadecimal digits");
            }
        }
        return bucket;
    } catch (const RecipeError& error) {
        throw UsageError("'" + path + "' is not a record of difffuzz: " + error.what());
    }
}

// Cases of each fingerprint, as the journal tells after triage.
std::map<std::string, std::uint64_t> cases_by_fingerprint(const std::string& evidence) {
    Tally tally;
    const JournalState journal =
        Journal::load(evidence, [&](const CaseReport& report) { tally.add(report); });
    std::vector<TriageResult> triaged;
    for (const json& one : journal.triaged) {
        triaged.push_back(triage_result_from_json(one));
    }
    std::map<std::string, std::uint64_t> cases;
    for (const auto& [key, bucket] : buckets_after(tally, triaged)) {
        cases[bucket.fingerprint] += bucket.cases;
    }
    return cases;
}

}  // namespace

std::vector<std::string> record_files(const std::string& evidence) {
    const std::string directory = evidence + "/records";
    std::vector<std::string> paths;
    try {
        for (const auto& entry : fs::recursive_directory_iterator(directory)) {
            if (entry.path().filename() == "record.json") {
                paths.push_back(entry.path());
            }
        }
    } catch (const fs::filesystem_error& error) {
        throw UsageError("cannot look into '" + directory + "': " + error.code().message());
    }
    std::ranges::sort(paths);
    return paths;
}

std::vector<FoundBucket> load_buckets(const std::string& evidence) {
    std::map<std::pair<std::string, std::string>, FoundBucket> by_key;
    for (const std::string& path : record_files(evidence)) {
        FoundBucket bucket = read_bucket(path);
        bucket.directory = fs::path(path).parent_path().lexically_relative(evidence);
        // Cases that ended a worker have no symptom; each is a bucket of its own.
        const std::string key = bucket.fingerprint.empty() ? bucket.directory : bucket.fingerprint;
        bucket.cases = 1;
        const auto [at, fresh] = by_key.try_emplace({bucket.type, key}, bucket);
        if (!fresh) {
            bucket.cases = at->second.cases + 1;
            if (bucket.index < at->second.index) {
                at->second = bucket;
            }
            at->second.cases = bucket.cases;
        }
    }
    const std::map<std::string, std::uint64_t> cases = cases_by_fingerprint(evidence);
    std::vector<FoundBucket> buckets;
    for (auto& [key, bucket] : by_key) {
        if (const auto told = cases.find(bucket.fingerprint); told != cases.end()) {
            bucket.cases = std::max(bucket.cases, told->second);
        }
        buckets.push_back(std::move(bucket));
    }
    std::ranges::sort(buckets, [](const FoundBucket& a, const FoundBucket& b) {
        return std::tuple(severity_rank(a.severity), a.index, a.directory) <
               std::tuple(severity_rank(b.severity), b.index, b.directory);
    });
    return buckets;
}

std::string file_beside(const std::string& evidence, const FoundBucket& bucket,
                        const std::string& name, std::size_t max_bytes) {
    const std::string path = evidence + "/" + bucket.directory + "/" + name;
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error || size > max_bytes ? std::string{} : read_evidence_file(path, max_bytes);
}

}  // namespace difffuzz

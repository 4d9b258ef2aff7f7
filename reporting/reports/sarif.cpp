// SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format).
#include <set>

#include <fmt/format.h>

#include "reporting/filing/http.hpp"
#include "reporting/record_text.hpp"
#include "reporting/reports/report_data.hpp"
#include "reporting/wording.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

std::string level_of(const std::string& severity) {
    return severity == "crash" || severity == "corruption"   ? "error"
           : severity == "detail" || severity == "reference" ? "note"
                                                             : "warning";
}

// Each part of a path below the evidence, escaped.
std::string uri_of(const std::string& directory) {
    std::string uri;
    std::string part;
    for (const char byte : directory + "/record.json/") {
        if (byte == '/') {
            uri += (uri.empty() ? "" : "/") + url_escaped(part);
            part.clear();
        } else {
            part += byte;
        }
    }
    return uri;
}

json result_of(const FoundBucket& bucket) {
    const Wording wording = wording_of(bucket.record);
    json result{{"ruleId", bucket.type},
                {"level", level_of(bucket.severity)},
                {"message",
                 {{"text", wording.what + " Expected: " + wording.expected + "\n" +
                               commands_text(bucket.record, 2'000)}}},
                {"partialFingerprints", {{"difffuzz/v1", bucket.fingerprint}}},
                {"occurrenceCount", bucket.cases},
                {"locations",
                 {{{"physicalLocation",
                    {{"artifactLocation",
                      {{"uri", uri_of(bucket.directory)}, {"uriBaseId", "EVIDENCE"}}}}}}}},
                {"properties",
                 {{"severity", bucket.severity},
                  {"status", bucket.status},
                  {"suspicion", wording.suspicion},
                  {"case", bucket.index}}}};
    if (bucket.status == "regression" || bucket.status == "pre-existing") {
        result["baselineState"] = bucket.status == "regression" ? "new" : "unchanged";
    }
    if (bucket.status.starts_with("known")) {
        result["suppressions"] = {{{"kind", "external"}, {"justification", bucket.status}}};
    }
    return result;
}

}  // namespace

std::string sarif_report(const ReportData& data) {
    std::set<std::string> types;
    json rules = json::array();
    json results = json::array();
    for (const FoundBucket& bucket : data.buckets) {
        if (bucket.fingerprint.empty()) {
            continue;  // a fault of the harness is no result about a tool
        }
        if (types.insert(bucket.type).second) {
            const std::string_view meaning =
                layer_meaning(text_field(bucket.record.at("symptom"), "layer"));
            rules.push_back({{"id", bucket.type},
                             {"shortDescription", {{"text", wording_of(bucket.record).title}}},
                             {"fullDescription",
                              {{"text", meaning.empty() ? "Both tools do the same." : meaning}}}});
        }
        results.push_back(result_of(bucket));
    }
    const json& verdict = data.summary.at("verdict");
    const json run{
        {"tool",
         {{"driver", {{"name", "difffuzz"}, {"semanticVersion", data.version}, {"rules", rules}}}}},
        {"automationDetails",
         {{"id", fmt::format("difffuzz/seed-{}", data.summary.at("seed").get<std::uint64_t>())}}},
        {"invocations",
         {{{"executionSuccessful", verdict.at("exit").get<int>() <= 1},
           {"exitCode", verdict.at("exit")},
           {"exitCodeDescription", verdict.at("line")}}}},
        {"originalUriBaseIds",
         {{"EVIDENCE", {{"description", {{"text", "The campaign's evidence directory."}}}}}}},
        {"columnKind", "unicodeCodePoints"},
        {"results", results}};
    return json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                {"version", "2.1.0"},
                {"runs", {run}}}
               .dump(1, ' ', false, json::error_handler_t::replace) +
           "\n";
}

}  // namespace difffuzz

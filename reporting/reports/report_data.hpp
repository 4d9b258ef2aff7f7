// What the reports for people and other programs are made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reporting/found_buckets.hpp"

namespace difffuzz {

// Sums over the cases up to and with `index`.
struct SeriesPoint {
    std::uint64_t index = 0;
    std::uint64_t compared = 0;
    std::uint64_t buckets = 0;  // of new divergences, as the verdict counts them
};

struct ReportData {
    std::string version;     // of difffuzz
    nlohmann::json summary;  // difffuzz.summary/1
    std::vector<FoundBucket> buckets;
    std::vector<std::string> scripts;  // reproduce.sh of each bucket, empty where there is none
    std::vector<SeriesPoint> series;   // ascending, at most 400; each new bucket has a point
};

// Of a complete campaign. Throws UsageError or EnvironmentError for evidence that cannot be read,
// or that lacks a record of a bucket of the summary.
ReportData load_report_data(const std::string& evidence, const nlohmann::json& summary,
                            const std::string& version);

// One self-contained page: no network, no script but its own; all data is escaped JSON that the
// script shows as text.
std::string html_report(const ReportData& data);
// JUnit's XML: a suite for the controls and one for each operation; a bucket is a failed test, a
// known one a skipped one, a campaign without a verdict an error.
std::string junit_report(const ReportData& data);
// SARIF 2.1.0: a bucket is a result, its type the rule.
std::string sarif_report(const ReportData& data);
// GitHub's Markdown, for a job summary or a comment; at most 60 kB.
std::string markdown_report(const ReportData& data);

// The sentence on how the search went on: cases, buckets, and how long ago the last new one was.
std::string progress_sentence(const ReportData& data);

}  // namespace difffuzz

#include "reporting/reports/report_data.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "campaign/evidence/journal.hpp"
#include "campaign/tally.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_script_bytes = std::size_t{256} << 10;
constexpr std::size_t max_points = 400;
// Of the points, those that are kept for new buckets at most; the rest are spread evenly.
constexpr std::size_t max_new_points = 300;

std::vector<SeriesPoint> thinned(const std::vector<SeriesPoint>& all) {
    if (all.size() <= max_points) {
        return all;
    }
    const std::size_t stride = all.size() / (max_points - max_new_points) + 1;
    std::size_t fresh_points = 0;
    std::vector<SeriesPoint> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool fresh = i > 0 && all[i].buckets != all[i - 1].buckets;
        fresh_points += fresh ? 1 : 0;
        if ((fresh && fresh_points < max_new_points) || i % stride == 0 || i + 1 == all.size()) {
            kept.push_back(all[i]);
        }
    }
    return kept;
}

// A bucket that the verdict counts and the report could not show.
void require_records(const std::string& evidence, const nlohmann::json& summary) {
    const std::vector<std::string> paths = record_files(evidence);
    for (const nlohmann::json& bucket : summary.at("buckets")) {
        for (const nlohmann::json& index : bucket.at("kept")) {
            const std::string record =
                fmt::format("{}/{}/{}/record.json", evidence,
                            bucket.at("directory").get<std::string>(), index.get<std::uint64_t>());
            if (!std::ranges::binary_search(paths, record)) {
                throw UsageError("a record is missing: '" + record +
                                 "', of a bucket in summary.json; restore it");
            }
        }
    }
}

// Ascending, of the buckets after triage that the verdict calls new.
std::vector<std::uint64_t> first_cases(const nlohmann::json& summary) {
    std::vector<std::uint64_t> first;
    for (const nlohmann::json& bucket : summary.at("buckets")) {
        const auto status = bucket.at("status").get<std::string>();
        if (!status.starts_with("known(") && status != "flaky" && status != "pre-existing" &&
            bucket.at("severity") != "reference") {
            first.push_back(bucket.at("kept").at(0).get<std::uint64_t>());
        }
    }
    std::ranges::sort(first);
    return first;
}

}  // namespace

ReportData load_report_data(const std::string& evidence, const nlohmann::json& summary,
                            const std::string& version) {
    ReportData data;
    data.version = version;
    data.summary = summary;
    data.buckets = load_buckets(evidence);
    for (const FoundBucket& bucket : data.buckets) {
        data.scripts.push_back(file_beside(evidence, bucket, "reproduce.sh", max_script_bytes));
    }
    require_records(evidence, summary);
    const std::vector<std::uint64_t> first = first_cases(summary);
    std::vector<SeriesPoint> series;
    Tally tally;
    Journal::load(evidence, [&](const CaseReport& report) {
        tally.add(report);
        const auto later = std::ranges::upper_bound(first, report.index);
        series.push_back(
            {report.index, tally.compared(), static_cast<std::uint64_t>(later - first.begin())});
    });
    data.series = thinned(series);
    return data;
}

std::string progress_sentence(const ReportData& data) {
    if (data.series.empty()) {
        return "No case was run.";
    }
    const SeriesPoint& last = data.series.back();
    const auto newest = std::ranges::find(data.series, last.buckets, &SeriesPoint::buckets);
    const std::string cases = fmt::format("{} cases, {} compared. ", last.index + 1, last.compared);
    return last.buckets == 0
               ? cases + "No bucket of new divergences."
               : cases + fmt::format(
                             "{} {} of new divergences, the last one at case {}, {} cases before "
                             "the end.",
                             last.buckets, last.buckets == 1 ? "bucket" : "buckets", newest->index,
                             last.index - newest->index);
}

}  // namespace difffuzz

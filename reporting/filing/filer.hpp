// Files issues: one a bucket, never two.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reporting/filing/exchange.hpp"
#include "reporting/filing/issue_text.hpp"
#include "reporting/filing/tracker.hpp"

namespace difffuzz {

// What is done about a bucket whose issue is closed and was not declined.
enum class OnClosed { reopen, file_new };

struct IssueToFile {
    IssueText text;
    std::optional<std::uint64_t> known;  // the number that the evidence remembers
};

struct FilingJob {
    std::string tracker;
    std::string api_url;  // checked
    std::string repo;     // checked
    std::vector<std::string> labels;
    OnClosed on_closed = OnClosed::reopen;
    std::uint64_t cap = 10;  // new issues, of this run and of 24 hours
    std::chrono::milliseconds timeout{30'000};
    std::string agent;
    std::string token_file;  // empty: none
    std::vector<IssueToFile> issues;
};

struct FilingResult {
    enum class Action { created, commented, reopened, unchanged, left_closed, capped, failed };
    std::string fingerprint;
    Action action = Action::failed;
    std::uint64_t number = 0;  // 0 where there is no issue
    std::string url;           // the tracker's word
    std::string reason;        // a sentence for left_closed, capped and failed
};

std::string_view to_string(FilingResult::Action action);

nlohmann::json to_json(const FilingJob& job);
nlohmann::json to_json(const FilingResult& result);
// Throw nlohmann::json::exception or RecipeError for anything that to_json did not write.
FilingJob job_from_json(const nlohmann::json& text);
FilingResult result_from_json(const nlohmann::json& text);

// Files the issues of `job` in order, calling `done` once for each as soon as it is known. Steps:
//  1. List what was created in the last 24 hours: a search index lags behind, this list does not.
//     Those of ours count for the cap.
//  2. For each: look up the remembered number, else that list, else search for the bucket's word.
//     An issue counts only if a marker line of its body names the bucket.
//  3. None: create one, unless the cap is reached. An answer that got lost is looked up in a fresh
//     list before the request is sent again; after a time-out it is not sent again at all.
//  4. An open one: a comment, if neither its body nor its comments know this sighting. A closed
//     one: as `on_closed` says; one that was declined stays as it is.
// What ends all (a wrong token, say) is the reason of each that is left.
void file_issues(const FilingJob& job, const TrackerRow& row, Exchange& exchange,
                 const std::function<void(const FilingResult&)>& done);

}  // namespace difffuzz

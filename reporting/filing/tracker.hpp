// Issue trackers: how each spells what filing asks of it. One row a tracker; nothing here sends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "reporting/filing/http.hpp"

namespace difffuzz {

// An issue as a tracker has it.
struct TrackedIssue {
    std::uint64_t number = 0;
    bool open = true;
    bool declined = false;  // closed as something that is not to be worked on
    std::string url;        // for people; the tracker's word
    std::string body;
    std::string created;  // time in UTC, ISO 8601
    bool operator==(const TrackedIssue&) const = default;
};

struct NewIssue {
    std::string title;
    std::string body;
    std::vector<std::string> labels;
    // Of trackers that know labels by number, these numbers.
    std::vector<std::uint64_t> label_ids;
};

struct TrackerRow {
    std::string_view name;                                   // as --tracker takes it
    std::string_view default_url;                            // empty: --api-url must name one
    std::string_view accept;                                 // media type
    std::vector<std::string_view> token_variables;           // beside DIFFFUZZ_TOKEN, in order
    std::string (*authorization)(const std::string& token);  // a header's line
    std::size_t page_size = 100;                             // of the lists below
    // Requests; `repo` is --repo, pages count from 1, `since` is a time in UTC, ISO 8601.
    HttpRequest (*search)(const std::string& repo, const std::string& word, unsigned page);
    HttpRequest (*changed_since)(const std::string& repo, const std::string& since, unsigned page);
    HttpRequest (*issue)(const std::string& repo, std::uint64_t number);
    HttpRequest (*comments)(const std::string& repo, std::uint64_t number, unsigned page);
    HttpRequest (*create)(const std::string& repo, const NewIssue& issue);
    HttpRequest (*comment)(const std::string& repo, std::uint64_t number, const std::string& text);
    HttpRequest (*reopen)(const std::string& repo, std::uint64_t number);
    // Where labels are known by number: the list of them, and one that makes a label. Else null.
    HttpRequest (*labels)(const std::string& repo, unsigned page);
    HttpRequest (*create_label)(const std::string& repo, const std::string& name);
    // Answers. They throw nlohmann::json::exception for one that the tracker would not give.
    std::vector<TrackedIssue> (*issues_in)(const nlohmann::json& answer);
    // Number of items of a list answer, to tell whether there may be a further page.
    std::size_t (*items_in)(const nlohmann::json& answer);
    TrackedIssue (*issue_in)(const nlohmann::json& answer);
};

const std::vector<TrackerRow>& trackers();
// Throws UsageError naming --tracker with a suggestion.
const TrackerRow& tracker_named(const std::string& name);

TrackerRow github_row();
TrackerRow gitlab_row();
TrackerRow gitea_row();

// Throws UsageError naming --repo unless it is OWNER/NAME (more levels where groups nest).
void check_repository(const std::string& repo);

// The texts of a comments answer: the field `body` of each item.
std::vector<std::string> comment_texts(const nlohmann::json& answer);

}  // namespace difffuzz

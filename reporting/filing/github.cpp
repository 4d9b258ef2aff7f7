// GitHub, by its REST API (https://docs.github.com/rest, OpenAPI in npm's @octokit/openapi).
#include <fmt/format.h>

#include "reporting/filing/filing_error.hpp"
#include "reporting/filing/tracker.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

std::string dumped(const json& body) {
    return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string text_or_empty(const json& object, const char* field) {
    return object.contains(field) && object.at(field).is_string()
               ? object.at(field).get<std::string>()
               : std::string{};
}

HttpRequest search(const std::string& repo, const std::string& word, unsigned page) {
    const std::string query = "\"" + word + "\" in:body is:issue repo:" + repo;
    return {"GET",
            fmt::format("/search/issues?q={}&per_page=100&page={}", url_escaped(query), page), "",
            true};
}

HttpRequest changed_since(const std::string& repo, const std::string& since, unsigned page) {
    return {"GET",
            fmt::format("/repos/{}/issues?state=all&sort=created&direction=desc&since={}"
                        "&per_page=100&page={}",
                        repo, url_escaped(since), page),
            "", true};
}

HttpRequest issue(const std::string& repo, std::uint64_t number) {
    return {"GET", fmt::format("/repos/{}/issues/{}", repo, number), "", true};
}

HttpRequest comments(const std::string& repo, std::uint64_t number, unsigned page) {
    return {"GET",
            fmt::format("/repos/{}/issues/{}/comments?per_page=100&page={}", repo, number, page),
            "", true};
}

HttpRequest create(const std::string& repo, const NewIssue& issue) {
    return {"POST", fmt::format("/repos/{}/issues", repo),
            dumped({{"title", issue.title}, {"body", issue.body}, {"labels", issue.labels}}),
            false};
}

HttpRequest comment(const std::string& repo, std::uint64_t number, const std::string& text) {
    return {"POST", fmt::format("/repos/{}/issues/{}/comments", repo, number),
            dumped({{"body", text}}), false};
}

HttpRequest reopen(const std::string& repo, std::uint64_t number) {
    return {"PATCH", fmt::format("/repos/{}/issues/{}", repo, number),
            dumped({{"state", "open"}, {"state_reason", "reopened"}}), true};
}

TrackedIssue issue_in(const json& answer) {
    TrackedIssue found;
    found.number = answer.at("number").get<std::uint64_t>();
    found.open = answer.at("state").get<std::string>() == "open";
    const std::string reason = text_or_empty(answer, "state_reason");
    found.declined = !found.open && (reason == "not_planned" || reason == "duplicate");
    found.url = text_or_empty(answer, "html_url");
    found.body = text_or_empty(answer, "body");
    found.created = answer.at("created_at").get<std::string>();
    return found;
}

const json& items(const json& answer) { return answer.is_object() ? answer.at("items") : answer; }

std::vector<TrackedIssue> issues_in(const json& answer) {
    // A search that ran out of time would look like one without a find.
    if (answer.is_object() && answer.at("incomplete_results").get<bool>()) {
        throw FilingError(
            "the tracker's search ran out of time, so that nothing tells whether an issue is "
            "there; "
            "run 'difffuzz file' again later",
            FilingError::Reach::this_issue);
    }
    std::vector<TrackedIssue> found;
    for (const json& item : items(answer)) {
        if (!item.contains("pull_request")) {  // these are in the same lists
            found.push_back(issue_in(item));
        }
    }
    return found;
}

}  // namespace

TrackerRow github_row() {
    return {
        .name = "github",
        .default_url = "https://api.github.com",
        .accept = "application/vnd.github+json",
        .token_variables = {"GITHUB_TOKEN", "GH_TOKEN"},
        .authorization = [](const std::string& token) { return "Authorization: Bearer " + token; },
        .page_size = 100,
        .search = search,
        .changed_since = changed_since,
        .issue = issue,
        .comments = comments,
        .create = create,
        .comment = comment,
        .reopen = reopen,
        .labels = nullptr,
        .create_label = nullptr,
        .issues_in = issues_in,
        .items_in = [](const json& answer) { return items(answer).size(); },
        .issue_in = issue_in};
}

}  // namespace difffuzz

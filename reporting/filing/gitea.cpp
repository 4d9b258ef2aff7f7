// Gitea and Forgejo, by their common REST API, version 1 (/api/swagger of any instance).
#include <fmt/format.h>

#include "reporting/filing/tracker.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

// Instances cap pages at 50 unless told otherwise.
constexpr unsigned page_size = 50;

std::string dumped(const json& body) {
    return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

HttpRequest search(const std::string& repo, const std::string& word, unsigned page) {
    return {"GET",
            fmt::format("/repos/{}/issues?state=all&type=issues&q={}&limit={}&page={}", repo,
                        url_escaped(word), page_size, page),
            "", true};
}

HttpRequest changed_since(const std::string& repo, const std::string& since, unsigned page) {
    return {"GET",
            fmt::format("/repos/{}/issues?state=all&type=issues&since={}&limit={}&page={}", repo,
                        url_escaped(since), page_size, page),
            "", true};
}

HttpRequest issue(const std::string& repo, std::uint64_t number) {
    return {"GET", fmt::format("/repos/{}/issues/{}", repo, number), "", true};
}

HttpRequest comments(const std::string& repo, std::uint64_t number, unsigned page) {
    return {
        "GET",
        fmt::format("/repos/{}/issues/{}/comments?limit={}&page={}", repo, number, page_size, page),
        "", true};
}

HttpRequest create(const std::string& repo, const NewIssue& issue) {
    return {"POST", fmt::format("/repos/{}/issues", repo),
            dumped({{"title", issue.title}, {"body", issue.body}, {"labels", issue.label_ids}}),
            false};
}

HttpRequest comment(const std::string& repo, std::uint64_t number, const std::string& text) {
    return {"POST", fmt::format("/repos/{}/issues/{}/comments", repo, number),
            dumped({{"body", text}}), false};
}

HttpRequest reopen(const std::string& repo, std::uint64_t number) {
    return {"PATCH", fmt::format("/repos/{}/issues/{}", repo, number), dumped({{"state", "open"}}),
            true};
}

HttpRequest labels(const std::string& repo, unsigned page) {
    return {"GET", fmt::format("/repos/{}/labels?limit={}&page={}", repo, page_size, page), "",
            true};
}

HttpRequest create_label(const std::string& repo, const std::string& name) {
    return {"POST", fmt::format("/repos/{}/labels", repo),
            dumped({{"name", name}, {"color", "#b60205"}}), false};
}

TrackedIssue issue_in(const json& answer) {
    TrackedIssue found;
    found.number = answer.at("number").get<std::uint64_t>();
    found.open = answer.at("state").get<std::string>() == "open";
    found.url = answer.value("html_url", "");
    found.body =
        answer.at("body").is_string() ? answer.at("body").get<std::string>() : std::string{};
    found.created = answer.at("created_at").get<std::string>();
    return found;
}

std::vector<TrackedIssue> issues_in(const json& answer) {
    std::vector<TrackedIssue> found;
    for (const json& item : answer) {
        if (!item.contains("pull_request") || item.at("pull_request").is_null()) {
            found.push_back(issue_in(item));
        }
    }
    return found;
}

}  // namespace

TrackerRow gitea_row() {
    return {
        .name = "gitea",
        .default_url = "",
        .accept = "application/json",
        .token_variables = {"GITEA_TOKEN", "FORGEJO_TOKEN"},
        .authorization = [](const std::string& token) { return "Authorization: token " + token; },
        .page_size = page_size,
        .search = search,
        .changed_since = changed_since,
        .issue = issue,
        .comments = comments,
        .create = create,
        .comment = comment,
        .reopen = reopen,
        .labels = labels,
        .create_label = create_label,
        .issues_in = issues_in,
        .items_in = [](const json& answer) { return answer.size(); },
        .issue_in = issue_in};
}

}  // namespace difffuzz

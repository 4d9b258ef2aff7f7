// GitLab, by its REST API, version 4 (https://docs.gitlab.com/ee/api/issues.html, notes.html).
#include <fmt/format.h>

#include "reporting/filing/tracker.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

std::string dumped(const json& body) {
    return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string issues_of(const std::string& repo) {
    return "/projects/" + url_escaped(repo) + "/issues";
}

HttpRequest search(const std::string& repo, const std::string& word, unsigned page) {
    return {"GET",
            fmt::format("{}?search={}&in=description&scope=all&per_page=100&page={}",
                        issues_of(repo), url_escaped(word), page),
            "", true};
}

HttpRequest changed_since(const std::string& repo, const std::string& since, unsigned page) {
    return {"GET",
            fmt::format("{}?scope=all&updated_after={}&order_by=created_at&sort=desc&per_page=100"
                        "&page={}",
                        issues_of(repo), url_escaped(since), page),
            "", true};
}

HttpRequest issue(const std::string& repo, std::uint64_t number) {
    return {"GET", fmt::format("{}/{}", issues_of(repo), number), "", true};
}

HttpRequest comments(const std::string& repo, std::uint64_t number, unsigned page) {
    return {"GET", fmt::format("{}/{}/notes?per_page=100&page={}", issues_of(repo), number, page),
            "", true};
}

std::string joined(const std::vector<std::string>& labels) {
    std::string text;
    for (const std::string& label : labels) {
        text += (text.empty() ? "" : ",") + label;
    }
    return text;
}

HttpRequest create(const std::string& repo, const NewIssue& issue) {
    return {"POST", issues_of(repo),
            dumped({{"title", issue.title},
                    {"description", issue.body},
                    {"labels", joined(issue.labels)}}),
            false};
}

HttpRequest comment(const std::string& repo, std::uint64_t number, const std::string& text) {
    return {"POST", fmt::format("{}/{}/notes", issues_of(repo), number), dumped({{"body", text}}),
            false};
}

HttpRequest reopen(const std::string& repo, std::uint64_t number) {
    return {"PUT", fmt::format("{}/{}", issues_of(repo), number),
            dumped({{"state_event", "reopen"}}), true};
}

TrackedIssue issue_in(const json& answer) {
    TrackedIssue found;
    found.number = answer.at("iid").get<std::uint64_t>();
    found.open = answer.at("state").get<std::string>() == "opened";
    found.url = answer.value("web_url", "");
    found.body = answer.at("description").is_string() ? answer.at("description").get<std::string>()
                                                      : std::string{};
    found.created = answer.at("created_at").get<std::string>();
    return found;
}

std::vector<TrackedIssue> issues_in(const json& answer) {
    std::vector<TrackedIssue> found;
    for (const json& item : answer) {
        found.push_back(issue_in(item));
    }
    return found;
}

}  // namespace

TrackerRow gitlab_row() {
    return {.name = "gitlab",
            .default_url = "https://gitlab.com/api/v4",
            .accept = "application/json",
            .token_variables = {"GITLAB_TOKEN"},
            .authorization = [](const std::string& token) { return "PRIVATE-TOKEN: " + token; },
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
            .items_in = [](const json& answer) { return answer.size(); },
            .issue_in = issue_in};
}

}  // namespace difffuzz

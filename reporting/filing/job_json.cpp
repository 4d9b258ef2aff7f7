// What difffuzz and its filing process tell each other, as JSON.
#include <nlohmann/json.hpp>

#include "core/cases/json_fields.hpp"
#include "reporting/filing/filer.hpp"

namespace difffuzz {

using nlohmann::json;

json to_json(const FilingJob& job) {
    json issues = json::array();
    for (const IssueToFile& one : job.issues) {
        issues.push_back({{"fingerprint", one.text.fingerprint},
                          {"sighting", one.text.sighting},
                          {"title", one.text.title},
                          {"body", one.text.body},
                          {"news", one.text.news},
                          {"known", one.known ? json(*one.known) : json(nullptr)}});
    }
    return {{"tracker", job.tracker},
            {"api_url", job.api_url},
            {"repo", job.repo},
            {"labels", job.labels},
            {"on_closed", job.on_closed == OnClosed::reopen ? "reopen" : "new"},
            {"cap", job.cap},
            {"timeout_ms", job.timeout.count()},
            {"agent", job.agent},
            {"token_file", job.token_file},
            {"issues", issues}};
}

FilingJob job_from_json(const json& text) {
    FilingJob job;
    job.tracker = text.at("tracker");
    job.api_url = text.at("api_url");
    job.repo = text.at("repo");
    job.labels = text.at("labels").get<std::vector<std::string>>();
    job.on_closed = text.at("on_closed") == "reopen" ? OnClosed::reopen : OnClosed::file_new;
    job.cap = text.at("cap");
    job.timeout = std::chrono::milliseconds(text.at("timeout_ms").get<std::int64_t>());
    job.agent = text.at("agent");
    job.token_file = text.at("token_file");
    for (const json& one : text.at("issues")) {
        IssueToFile issue;
        issue.text.fingerprint = one.at("fingerprint");
        issue.text.sighting = one.at("sighting");
        issue.text.title = one.at("title");
        issue.text.body = one.at("body");
        issue.text.news = one.at("news");
        if (!one.at("known").is_null()) {
            issue.known = one.at("known").get<std::uint64_t>();
        }
        job.issues.push_back(std::move(issue));
    }
    return job;
}

json to_json(const FilingResult& result) {
    return {{"fingerprint", result.fingerprint},
            {"action", to_string(result.action)},
            {"number", result.number},
            {"url", result.url},
            {"reason", result.reason}};
}

FilingResult result_from_json(const json& text) {
    using Action = FilingResult::Action;
    FilingResult result;
    result.fingerprint = text.at("fingerprint");
    result.number = text.at("number");
    result.url = text.at("url");
    result.reason = text.at("reason");
    const std::string action = text.at("action");
    for (const Action one :
         {Action::created, Action::commented, Action::reopened, Action::unchanged,
          Action::left_closed, Action::capped, Action::failed}) {
        if (to_string(one) == action) {
            result.action = one;
            return result;
        }
    }
    throw RecipeError("/action", "is not one of filing's");
}

}  // namespace difffuzz

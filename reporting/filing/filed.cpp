#include "reporting/filing/filed.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "campaign/evidence/files.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_filed_bytes = std::size_t{16} << 20;
constexpr std::size_t max_text = 2048;

std::string place_of(const FilingJob& job) {
    return job.tracker + " " + job.api_url + " " + job.repo;
}

}  // namespace

Filed::Filed(const std::string& evidence) : evidence_(evidence) {
    const std::string path = evidence + "/filed.json";
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) {
        return;
    }
    try {
        const json file = parse_bounded(read_evidence_file(path, max_filed_bytes), max_filed_bytes);
        ObjectFields fields(file, "");
        require_schema(fields.text("schema", 64), filed_schema);
        const json& places = fields.required("issues");
        if (!places.is_object()) {
            throw RecipeError("/issues", "must be an object");
        }
        for (const auto& place : places.items()) {
            for (const auto& issue : place.value().items()) {
                const std::string pointer = "/issues/" + place.key() + "/" + issue.key();
                ObjectFields one(issue.value(), pointer);
                issues_[place.key()][issue.key()] = {one.number("number", 1, UINT64_MAX),
                                                     one.text("url", max_text)};
            }
        }
    } catch (const RecipeError& reason) {
        throw UsageError("'" + path + "' is not what difffuzz remembers of filing: " +
                         reason.what() + "; remove it, the tracker knows as much");
    }
}

std::optional<std::uint64_t> Filed::number(const FilingJob& job,
                                           const std::string& fingerprint) const {
    const auto place = issues_.find(place_of(job));
    if (place == issues_.end()) {
        return std::nullopt;
    }
    const auto issue = place->second.find(fingerprint);
    return issue == place->second.end() ? std::nullopt : std::optional(issue->second.first);
}

void Filed::remember(const FilingJob& job, const FilingResult& result) {
    if (result.number == 0) {
        return;
    }
    issues_[place_of(job)][result.fingerprint] = {result.number, result.url.substr(0, max_text)};
    json issues = json::object();
    for (const auto& [place, numbers] : issues_) {
        for (const auto& [fingerprint, issue] : numbers) {
            issues[place][fingerprint] = {{"number", issue.first}, {"url", issue.second}};
        }
    }
    write_file(evidence_, "filed.json",
               json{{"schema", filed_schema}, {"issues", issues}}.dump(
                   2, ' ', true, json::error_handler_t::replace) +
                   "\n");
}

}  // namespace difffuzz

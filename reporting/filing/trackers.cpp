// The table of trackers, and what is the same for all.
#include <algorithm>

#include "core/errors.hpp"
#include "core/suggest.hpp"
#include "reporting/filing/tracker.hpp"

namespace difffuzz {

const std::vector<TrackerRow>& trackers() {
    static const std::vector<TrackerRow> table{github_row(), gitlab_row(), gitea_row()};
    return table;
}

const TrackerRow& tracker_named(const std::string& name) {
    const auto row = std::ranges::find(trackers(), name, &TrackerRow::name);
    if (row != trackers().end()) {
        return *row;
    }
    std::vector<std::string> names;
    std::string list;
    for (const TrackerRow& one : trackers()) {
        names.emplace_back(one.name);
        list += (list.empty() ? "" : ", ") + names.back();
    }
    throw UsageError("--tracker: there is no tracker '" + name.substr(0, 80) + "'" +
                     suggestion(name, names) + "; there are " + list);
}

void check_repository(const std::string& repo) {
    constexpr std::string_view characters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
    const bool odd = repo.empty() || repo.size() > 200 ||
                     repo.find_first_not_of(characters) != std::string::npos ||
                     repo.find('/') == std::string::npos || repo.starts_with('/') ||
                     repo.ends_with('/') || repo.find("//") != std::string::npos ||
                     repo.find("..") != std::string::npos || repo.starts_with("./") ||
                     repo.find("/.") != std::string::npos;
    if (odd) {
        throw UsageError("--repo takes OWNER/NAME, not '" + repo.substr(0, 80) + "'");
    }
}

std::vector<std::string> comment_texts(const nlohmann::json& answer) {
    std::vector<std::string> texts;
    for (const nlohmann::json& comment : answer) {
        if (comment.at("body").is_string()) {
            texts.push_back(comment.at("body"));
        }
    }
    return texts;
}

}  // namespace difffuzz

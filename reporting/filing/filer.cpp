#include "reporting/filing/filer.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "reporting/filing/filing_error.hpp"
#include "reporting/filing/markers.hpp"
#include "reporting/filing/timestamp.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;
using Action = FilingResult::Action;
using Reach = FilingError::Reach;

constexpr std::int64_t day = 24 * 60 * 60;
// More than a repository has of anything that is listed here, and a bound for a tracker that never
// ends.
constexpr unsigned max_pages = 50;

bool names(const TrackedIssue& issue, const std::string& fingerprint) {
    const Markers markers = find_markers(issue.body);
    return std::ranges::find(markers.fingerprints, fingerprint) != markers.fingerprints.end();
}

class Filer {
public:
    Filer(const FilingJob& job, const TrackerRow& row, Exchange& exchange)
        : job_(job), row_(row), exchange_(exchange) {}

    void begin() {
        list_recent();
        for (const TrackedIssue& issue : recent_) {
            const auto created = parse_time(issue.created);
            const bool today = created && *created >= exchange_.clock().now() - day;
            created_today_ += today && !find_markers(issue.body).fingerprints.empty() ? 1U : 0U;
        }
    }

    FilingResult file(const IssueToFile& one) {
        const std::string& fingerprint = one.text.fingerprint;
        const auto found = look_up(one);
        if (!found) {
            return create(one.text, one.text.body);
        }
        FilingResult result;
        result.fingerprint = fingerprint;
        result.number = found->number;
        result.url = found->url;
        if (found->open) {
            result.action = Action::unchanged;
            if (!knows(*found, one.text.sighting)) {
                comment(found->number, one.text);
                result.action = Action::commented;
            }
        } else if (found->declined) {
            result.action = Action::left_closed;
            result.reason = "it was closed as not planned or as a duplicate";
        } else if (job_.on_closed == OnClosed::file_new) {
            return create(one.text, one.text.body + fmt::format("Earlier: #{}\n", found->number));
        } else {
            taken(row_.reopen(job_.repo, found->number));
            comment(found->number, one.text);
            result.action = Action::reopened;
        }
        return result;
    }

private:
    // An answer, with anything that is not of the tracker's form as a sentence.
    template <class Read>
    auto read(const HttpRequest& request, const json& answer, Read how) {
        try {
            return how(answer);
        } catch (const json::exception&) {
            throw FilingError(
                fmt::format("the answer of {} to '{} {}' is not of {}'s form; check --tracker and "
                            "--api-url",
                            exchange_.asked().host, request.method,
                            request.path.substr(0, request.path.find('?')), row_.name),
                Reach::all);
        }
    }

    void taken(const HttpRequest& request) { exchange_.ask(request); }

    // All pages of a list. `enough` may end it early.
    template <class Item, class Read, class Enough>
    std::vector<Item> pages(const std::function<HttpRequest(unsigned)>& request_of, Read how,
                            Enough enough) {
        std::vector<Item> all;
        for (unsigned page = 1; page <= max_pages; ++page) {
            const HttpRequest request = request_of(page);
            const Answered answer = exchange_.ask(request);
            std::vector<Item> items = read(request, answer.body, how);
            std::ranges::move(items, std::back_inserter(all));
            const bool further = answer.further.value_or(
                read(request, answer.body, row_.items_in) >= row_.page_size);
            if (!further || enough(all)) {
                return all;
            }
        }
        throw FilingError(fmt::format("{} lists more than {} pages, which is more than difffuzz "
                                      "reads",
                                      exchange_.asked().host, max_pages),
                          Reach::all);
    }

    void list_recent() {
        const std::string since = utc_text(exchange_.clock().now() - day);
        recent_ = pages<TrackedIssue>(
            [&](unsigned page) { return row_.changed_since(job_.repo, since, page); },
            row_.issues_in, [](const auto&) { return false; });
    }

    // An open one first, else the newest.
    static std::optional<TrackedIssue> best(const std::vector<TrackedIssue>& issues,
                                            const std::string& fingerprint) {
        std::optional<TrackedIssue> best;
        for (const TrackedIssue& issue : issues) {
            if (names(issue, fingerprint) && (!best || std::pair(issue.open, issue.number) >
                                                           std::pair(best->open, best->number))) {
                best = issue;
            }
        }
        return best;
    }

    std::optional<TrackedIssue> look_up(const IssueToFile& one) {
        const std::string& fingerprint = one.text.fingerprint;
        std::vector<TrackedIssue> found = recent_;
        if (one.known) {
            const HttpRequest request = row_.issue(job_.repo, *one.known);
            if (const auto answer = exchange_.ask_if_there(request)) {
                found.push_back(read(request, answer->body, row_.issue_in));
            }
        }
        auto here = best(found, fingerprint);
        if (here && here->open) {
            return here;
        }
        const auto searched = pages<TrackedIssue>(
            [&](unsigned page) { return row_.search(job_.repo, bucket_word(fingerprint), page); },
            row_.issues_in, [&](const auto& all) { return best(all, fingerprint).has_value(); });
        std::ranges::copy(searched, std::back_inserter(found));
        return best(found, fingerprint);
    }

    std::vector<std::string> comments_of(std::uint64_t number) {
        return pages<std::string>(
            [&](unsigned page) { return row_.comments(job_.repo, number, page); }, comment_texts,
            [](const auto&) { return false; });
    }

    bool knows(const TrackedIssue& issue, const std::string& sighting) {
        const auto holds = [&](const std::string& text) {
            const Markers markers = find_markers(text);
            return std::ranges::find(markers.sightings, sighting) != markers.sightings.end();
        };
        return holds(issue.body) || std::ranges::any_of(comments_of(issue.number), holds);
    }

    std::size_t comments_about(std::uint64_t number, const std::string& fingerprint) {
        const auto comments = comments_of(number);
        return static_cast<std::size_t>(std::ranges::count_if(comments, [&](const auto& text) {
            const Markers markers = find_markers(text);
            return std::ranges::find(markers.fingerprints, fingerprint) !=
                   markers.fingerprints.end();
        }));
    }

    void comment(std::uint64_t number, const IssueText& text) {
        const HttpRequest request = row_.comment(job_.repo, number, text.news);
        const std::size_t before = comments_about(number, text.fingerprint);
        for (unsigned tries = 1;; ++tries) {
            try {
                exchange_.ask(request);
                return;
            } catch (const LostAnswer& lost) {
                exchange_.pause_before_try(tries);
                if (comments_about(number, text.fingerprint) > before) {
                    return;
                }
                require_another_try(lost, tries);
            }
        }
    }

    void require_another_try(const LostAnswer& lost, unsigned tries) const {
        if (lost.late()) {
            throw FilingError(std::string(lost.what()) +
                                  "; it may still be carried out, so it was not sent again; run "
                                  "'difffuzz file' again later",
                              Reach::this_issue);
        }
        if (tries >= exchange_.rules().tries) {
            throw FilingError(std::string(lost.what()) + fmt::format(", {} times", tries) +
                                  "; run 'difffuzz file' again later",
                              Reach::this_issue);
        }
    }

    std::vector<std::uint64_t> label_ids() {
        std::vector<std::uint64_t> ids;
        if (row_.labels == nullptr) {
            return ids;
        }
        const auto all = pages<std::pair<std::string, std::uint64_t>>(
            [&](unsigned page) { return row_.labels(job_.repo, page); },
            [](const json& answer) {
                std::vector<std::pair<std::string, std::uint64_t>> labels;
                for (const json& label : answer) {
                    labels.emplace_back(label.at("name"), label.at("id"));
                }
                return labels;
            },
            [](const auto&) { return false; });
        for (const std::string& name : job_.labels) {
            const auto there =
                std::ranges::find(all, name, &std::pair<std::string, std::uint64_t>::first);
            if (there != all.end()) {
                ids.push_back(there->second);
            } else {
                const HttpRequest request = row_.create_label(job_.repo, name);
                ids.push_back(read(request, exchange_.ask(request).body, [](const json& answer) {
                    return answer.at("id").get<std::uint64_t>();
                }));
            }
        }
        return ids;
    }

    FilingResult create(const IssueText& text, const std::string& body) {
        FilingResult result;
        result.fingerprint = text.fingerprint;
        if (created_ >= job_.cap || created_today_ >= job_.cap) {
            result.action = Action::capped;
            result.reason = created_ >= job_.cap
                                ? fmt::format("this run filed its {} already", job_.cap)
                                : fmt::format("{} were filed within 24 hours", created_today_);
            return result;
        }
        if (!label_ids_) {
            label_ids_ = label_ids();
        }
        const HttpRequest request =
            row_.create(job_.repo, {text.title, body, job_.labels, *label_ids_});
        const TrackedIssue issue = create_once(request, text.fingerprint);
        ++created_;
        ++created_today_;
        result.action = Action::created;
        result.number = issue.number;
        result.url = issue.url;
        return result;
    }

    TrackedIssue create_once(const HttpRequest& request, const std::string& fingerprint) {
        for (unsigned tries = 1;; ++tries) {
            try {
                return read(request, exchange_.ask(request).body, row_.issue_in);
            } catch (const LostAnswer& lost) {
                exchange_.pause_before_try(tries);
                list_recent();
                if (const auto found = best(recent_, fingerprint); found && found->open) {
                    return *found;
                }
                require_another_try(lost, tries);
            }
        }
    }

    const FilingJob& job_;
    const TrackerRow& row_;
    Exchange& exchange_;
    std::vector<TrackedIssue> recent_;
    std::uint64_t created_ = 0;
    std::uint64_t created_today_ = 0;
    std::optional<std::vector<std::uint64_t>> label_ids_;
};

}  // namespace

std::string_view to_string(Action action) {
    switch (action) {
        case Action::created:
            return "created";
        case Action::commented:
            return "commented";
        case Action::reopened:
            return "reopened";
        case Action::unchanged:
            return "unchanged";
        case Action::left_closed:
            return "left_closed";
        case Action::capped:
            return "capped";
        case Action::failed:
            return "failed";
    }
    return "failed";
}

void file_issues(const FilingJob& job, const TrackerRow& row, Exchange& exchange,
                 const std::function<void(const FilingResult&)>& done) {
    Filer filer(job, row, exchange);
    std::optional<std::string> all_fail;
    try {
        if (!job.issues.empty()) {
            filer.begin();
        }
    } catch (const FilingError& error) {
        all_fail = error.what();
    }
    for (const IssueToFile& one : job.issues) {
        FilingResult result;
        result.fingerprint = one.text.fingerprint;
        if (!all_fail) {
            try {
                done(filer.file(one));
                continue;
            } catch (const FilingError& error) {
                result.reason = error.what();
                if (error.reach() == Reach::all) {
                    all_fail = error.what();
                }
            }
        } else {
            result.reason = *all_fail;
        }
        done(result);
    }
}

}  // namespace difffuzz

#include "apps/difffuzz/filing.hpp"

#include "apps/difffuzz/output.hpp"

#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>

#include "core/errors.hpp"
#include "core/suggest.hpp"
#include "reporting/filing/curl_client.hpp"
#include "reporting/filing/filed.hpp"
#include "reporting/filing/filing_process.hpp"
#include "reporting/filing/tokens.hpp"

namespace difffuzz {
namespace {

using Action = FilingResult::Action;

constexpr std::size_t max_script_bytes = std::size_t{32} << 10;

std::vector<std::string> checked_labels(std::vector<std::string> labels) {
    if (labels.empty()) {
        return {"security-audit"};
    }
    for (const std::string& label : labels) {
        const bool printable =
            std::ranges::all_of(label, [](char byte) { return byte >= 0x20 && byte != 0x7f; });
        if (label.size() > 50 || !printable || label.find(',') != std::string::npos) {
            throw UsageError("--label takes a name of at most 50 bytes without commas, not '" +
                             label.substr(0, 80) + "'");
        }
    }
    return labels;
}

void add_issues(FilingJob& job, const std::string& evidence,
                const std::vector<FoundBucket>& buckets, const Filed& filed) {
    utsname host{};
    ::uname(&host);
    for (const FoundBucket& bucket : buckets) {
        IssueToFile issue;
        issue.text =
            issue_text(bucket, {DIFFFUZZ_VERSION, std::string(host.sysname) + " " + host.machine,
                                file_beside(evidence, bucket, "reproduce.sh", max_script_bytes)});
        issue.known = filed.number(job, bucket.fingerprint);
        job.issues.push_back(std::move(issue));
    }
}

std::string sentence_of(const FilingResult& result) {
    const std::string number = "#" + std::to_string(result.number) + " ";
    switch (result.action) {
        case Action::created:
            return "filed as " + number + result.url;
        case Action::commented:
            return "known as " + number + result.url + ", commented: other versions or platform";
        case Action::reopened:
            return "reopened " + number + result.url;
        case Action::unchanged:
            return "known as " + number + result.url + ", nothing new";
        case Action::left_closed:
            return "left closed: " + number + result.url + ", " + result.reason;
        case Action::capped:
            return "not filed, --max-issues: " + result.reason;
        case Action::failed:
            return "could not be filed: " + result.reason;
    }
    return {};
}

}  // namespace

FilingJob filing_job(const Flags& flags, bool dry) {
    FilingJob job;
    const TrackerRow& row = tracker_named(flags.tracker);
    job.tracker = row.name;
    if (flags.repository.empty()) {
        throw UsageError("filing needs --repo OWNER/NAME: the repository that gets the issues");
    }
    check_repository(flags.repository);
    job.repo = flags.repository;
    if (flags.api_url.empty() && row.default_url.empty()) {
        throw UsageError("--tracker " + job.tracker +
                         " needs --api-url, such as https://HOST/api/v1");
    }
    job.api_url =
        checked_api_url(flags.api_url.empty() ? std::string(row.default_url) : flags.api_url);
    job.labels = checked_labels(flags.labels);
    if (flags.on_closed != "reopen" && flags.on_closed != "new") {
        throw UsageError("--on-closed takes reopen or new, not '" + flags.on_closed.substr(0, 80) +
                         "'" + suggestion(flags.on_closed, {"reopen", "new"}));
    }
    job.on_closed = flags.on_closed == "new" ? OnClosed::file_new : OnClosed::reopen;
    job.cap = flags.max_issues;
    job.timeout = std::chrono::seconds(flags.tracker_timeout);
    job.agent = std::string("difffuzz/") + DIFFFUZZ_VERSION;
    const TokenSource source = token_source();
    job.token_file = source.file;
    if (!dry) {
        require_token(source, row);
    }
    return job;
}

std::string never_filed(const FoundBucket& bucket, bool confirmed) {
    if (bucket.fingerprint.empty() || bucket.status == "harness") {
        return "a fault of the harness, not of a tool";
    }
    if (bucket.severity == "reference") {
        return "the reference's own fault, not the subject's";
    }
    const bool fresh = bucket.status == "new" || bucket.status == "regression";
    const bool on_request = bucket.status == "untriaged" || bucket.status == "pre-existing";
    if (!fresh && !(confirmed && on_request)) {
        return "its status is " + bucket.status;
    }
    return {};
}

bool file_buckets(const std::string& evidence, const std::vector<FoundBucket>& buckets,
                  FilingJob job) {
    if (buckets.empty()) {
        print_line("nothing to file");
        return true;
    }
    Filed filed(evidence);
    add_issues(job, evidence, buckets, filed);
    std::size_t at = 0;
    bool all = true;
    file_in_process("/proc/self/exe", token_source().pipe, job, [&](const FilingResult& result) {
        filed.remember(job, result);
        print_line(buckets.at(at++).type + "-" + result.fingerprint + ": " + sentence_of(result));
        std::cout.flush();
        all = all && result.action != Action::failed && result.action != Action::capped;
    });
    return all;
}

void print_requests(const std::string& evidence, const std::vector<FoundBucket>& buckets,
                    FilingJob job) {
    add_issues(job, evidence, buckets, Filed(evidence));
    const TrackerRow& row = tracker_named(job.tracker);
    std::cout << "not sent (--dry-run); each only if no issue is found that holds its "
                 "difffuzz-bucket line, and "
              << job.cap << " at most:\n";
    for (const IssueToFile& one : job.issues) {
        const HttpRequest request =
            row.create(job.repo, {one.text.title, one.text.body, job.labels, {}});
        std::cout << request.method << " " << job.api_url << request.path << "\n"
                  << request.body << "\n";
        if (row.labels != nullptr) {
            std::cout << "(with the numbers that the tracker has for the labels)\n";
        }
    }
}

}  // namespace difffuzz

// difffuzz file: issues for what a campaign found.
#include <iostream>

#include <nlohmann/json.hpp>

#include "apps/difffuzz/filing.hpp"
#include "apps/difffuzz/input.hpp"
#include "apps/difffuzz/reproducing.hpp"
#include "campaign/evidence/layout.hpp"
#include "campaign/evidence/lock.hpp"
#include "core/errors.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

struct Confirmed {
    std::vector<FoundBucket> buckets;
    bool all_clear = true;  // of each could be told whether it is still there
};

std::string sentence_of(const ParsedRecord& input, const std::vector<CaseReport>& reports) {
    if (!drifted_image(input, reports.back()).empty()) {
        return "its input images are not what they were";
    }
    std::size_t same = 0;
    std::size_t unclear = 0;
    std::size_t other = 0;
    for (const CaseReport& report : reports) {
        const Found found = judge_run(input, report);
        same += found == Found::same ? 1 : 0;
        unclear += found == Found::unclear ? 1 : 0;
        other += found == Found::other ? 1 : 0;
    }
    if (same == reports.size()) {
        return {};
    }
    if (unclear > 0) {
        return "no verdict when run again: " + std::string(to_string(reports.back().terminal));
    }
    return same > 0    ? "flaky when run again"
           : other > 0 ? "another symptom when run again: " + reports.back().type
                       : "gone: both tools agree when run again";
}

// Runs each again, as `repro` does.
Confirmed confirm(const Flags& flags, const std::string& evidence) {
    Confirmed confirmed;
    std::unique_ptr<Reproducer> reproducer;
    for (const FoundBucket& bucket : load_buckets(evidence)) {
        std::string why = never_filed(bucket, true);
        if (why.empty()) {
            if (!reproducer) {
                reproducer = std::make_unique<Reproducer>(flags);
            }
            const ParsedRecord input =
                read_record_or_recipe(evidence + "/" + bucket.directory + "/record.json");
            const std::vector<CaseReport> reports = reproducer->run(input);
            why = sentence_of(input, reports);
            confirmed.all_clear = confirmed.all_clear && !why.starts_with("no verdict");
        }
        if (why.empty()) {
            confirmed.buckets.push_back(bucket);
        } else {
            std::cout << printable_text(bucket.directory + ": not filed: " + why) << "\n";
        }
    }
    return confirmed;
}

int file(const Flags& flags) {
    const std::string& evidence = flags.positional.at(0);
    const FilingJob job = filing_job(flags, flags.dry_run);
    read_campaign(evidence);
    const EvidenceLock lock(evidence);
    if (!ended_or_told(read_campaign(evidence), evidence)) {
        return static_cast<int>(ExitCode::no_verdict);
    }
    const Confirmed confirmed = confirm(flags, evidence);
    if (flags.dry_run) {
        print_requests(evidence, confirmed.buckets, job);
        return static_cast<int>(ExitCode::holds);
    }
    const bool all = file_buckets(evidence, confirmed.buckets, job) && confirmed.all_clear;
    return static_cast<int>(all ? ExitCode::holds : ExitCode::not_filed);
}

}  // namespace

CommandSpec file_command() {
    CommandSpec command{"file",
                        "files an issue for each bucket of a campaign that is still there",
                        "GITHUB_TOKEN=... difffuzz file difffuzz-out/42 --repo me/my-qemu-img "
                        "--subject ./my-qemu-img",
                        {"--subject", "--reference", "--timeout", "--run-as", "--expose",
                         "--memory-limit", "--disk-limit", "--no-config", "--dry-run"},
                        "EVIDENCE",
                        1,
                        1,
                        file};
    command.flags.insert(command.flags.end(), std::begin(filing_flags), std::end(filing_flags));
    return command;
}

}  // namespace difffuzz

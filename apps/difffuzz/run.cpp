// difffuzz run: a campaign.
#include <filesystem>
#include <iostream>
#include <random>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "apps/difffuzz/ending.hpp"
#include "apps/difffuzz/filing.hpp"
#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/stand_in.hpp"
#include "apps/difffuzz/tools.hpp"
#include "campaign/campaign.hpp"
#include "campaign/evidence/layout.hpp"
#include "campaign/evidence/lock.hpp"
#include "campaign/shard_words.hpp"
#include "core/errors.hpp"
#include "ops/operation.hpp"
#include "oracles/shown_text.hpp"
#include "reporting/reports/summary.hpp"
#include "reporting/seen/seen.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t default_iterations = 1000;

// One line that is rewritten on a terminal, plain lines now and then elsewhere.
class ProgressPrinter {
public:
    void operator()(const Progress& progress) {
        if (progress.triage && !triage_) {
            triage_ = true;
            last_ = -1000;
        }
        const bool terminal = ::isatty(STDERR_FILENO) == 1;
        const double interval = terminal ? 0.2 : 10.0;
        if (progress.seconds - last_ < interval && progress.done != progress.total) {
            return;
        }
        last_ = progress.seconds;
        if (progress.triage) {
            print(terminal, fmt::format("{} of {} divergences confirmed and shrunk", progress.done,
                                        progress.total));
            return;
        }
        const double rate =
            progress.seconds > 0 ? static_cast<double>(progress.done_here) / progress.seconds : 0;
        const double left =
            rate > 0 ? static_cast<double>(progress.total - progress.done) / rate : 0;
        const double compared = progress.done > 0 ? 100.0 * static_cast<double>(progress.compared) /
                                                        static_cast<double>(progress.done)
                                                  : 0;
        const bool bounded = progress.total < unbounded_iterations;
        const std::string line = fmt::format(
            "{}{} {}, {:.0f}/s, {:.1f} % compared, {} buckets{}", progress.done,
            bounded ? fmt::format(" of {}", progress.total) : "",
            (bounded ? progress.total : progress.done) == 1 ? "case" : "cases", rate, compared,
            progress.buckets, bounded ? fmt::format(", {:.0f} s left", left) : "");
        print(terminal, line);
    }
    ~ProgressPrinter() {
        if (open_) {
            std::cerr << "\n";
        }
    }
    ProgressPrinter() = default;
    ProgressPrinter(const ProgressPrinter&) = delete;
    ProgressPrinter& operator=(const ProgressPrinter&) = delete;

private:
    void print(bool terminal, const std::string& line) {
        if (terminal) {
            std::cerr << "\r\033[K" << line << std::flush;
            open_ = true;
        } else {
            spdlog::info(line);
        }
    }

    double last_ = -1000;
    bool triage_ = false;
    bool open_ = false;
};

std::uint64_t drawn_seed() {
    std::random_device device;
    return (std::uint64_t{device()} << 16) ^ device();
}

// What a resumed campaign was started with stands in its evidence.
void take_over_terms(const Flags& flags, CampaignOptions& options) {
    if (flags.out.empty()) {
        throw UsageError("--resume needs --out DIR: the evidence of the campaign to continue");
    }
    const nlohmann::json terms = read_campaign(flags.out).at("terms");
    if (!flags.seed) {
        options.seed = terms.at("seed");
    }
    if (!flags.iterations) {
        options.iterations = terms.at("iterations");
    }
    if (!flags.max_new && !terms.at("max_new").is_null()) {
        options.max_new = terms.at("max_new").get<std::uint64_t>();
    }
    if (flags.shard.empty()) {
        options.shard = {terms.at("shard").at("index"), terms.at("shard").at("count")};
    }
    const Plan plan = read_campaign_plan(flags.out);
    if (flags.operations.empty()) {
        options.operations = plan.operations;
    }
    if (!flags.damaged) {
        options.damaged_percent = plan.damaged_percent;
    }
    if (flags.known_mode.empty()) {
        options.known_mode = plan.registry_mode;
    }
    if (flags.determinism.empty()) {
        options.determinism = parse_determinism(terms.at("determinism").get<std::string>());
    }
    if (!flags.triage_runs && !flags.no_triage) {
        options.triage_runs = terms.at("triage_runs");
    }
}

void require_baseline_makes_sense(const Flags& flags, const CampaignOptions& options) {
    if (flags.baseline.empty()) {
        if (flags.fixed_meanwhile > 0) {
            throw UsageError(
                "--fixed-meanwhile needs --baseline: the older subject to compare with");
        }
    } else if (options.triage_runs == 0) {
        throw UsageError(
            "--baseline and no triage do not go together: what was not confirmed is no regression; "
            "drop --no-triage or --triage-runs 0");
    } else if (options.shard.count > 1) {
        throw UsageError(
            "--baseline and --shard do not go together: what shards come to is known once they are "
            "merged; run one campaign with --baseline");
    }
}

CampaignOptions options_from(const Flags& flags) {
    CampaignOptions options;
    options.iterations = flags.iterations.value_or(default_iterations);
    options.seed = flags.seed ? *flags.seed : drawn_seed();
    if (!flags.operations.empty()) {
        options.operations = parse_operations(flags.operations);
    }
    options.command = flags.words;
    options.version = DIFFFUZZ_VERSION;
    if (!flags.subject_source.empty()) {
        options.subject_source = read_subject_source(flags.subject_source);
    }
    options.exposed = exposed_from(flags);
    options.run_as = tool_identity(flags);
    options.jobs = jobs_from(flags);
    options.limits = limits_from(flags);
    options.resume = flags.resume;
    options.max_new = flags.max_new;
    options.min_compared = flags.min_compared;
    options.max_inconclusive = flags.max_inconclusive;
    if (flags.damaged) {
        options.damaged_percent = *flags.damaged;
    }
    if (!flags.known_mode.empty()) {
        require_known_mode(flags.known_mode);
        options.known_mode = flags.known_mode;
    }
    options.known_directory = flags.known_directory;
    if (!flags.determinism.empty()) {
        options.determinism = parse_determinism(flags.determinism);
    }
    if (flags.no_triage && flags.triage_runs.value_or(0) > 0) {
        throw UsageError("--no-triage and --triage-runs do not go together; drop one of them");
    }
    options.triage_runs = flags.no_triage ? 0 : flags.triage_runs.value_or(options.triage_runs);
    options.shard = parse_shard(flags.shard, process_environment());
    require_baseline_makes_sense(flags, options);
    if (flags.max_new && !flags.shard.empty()) {
        throw UsageError(
            "--max-new and --shard do not go together: a shard does not see the "
            "symptoms of the others");
    }
    if (flags.duration) {
        options.duration = std::chrono::seconds(*flags.duration);
        options.duration_bounds = !flags.iterations;
        if (options.duration_bounds && options.shard.count > 1) {
            throw UsageError(
                "--shard with --duration needs --iterations: shards that end anywhere make no "
                "whole");
        }
        if (options.duration_bounds) {
            options.iterations = unbounded_iterations;
        }
    }
    if (flags.resume) {
        take_over_terms(flags, options);
    }
    options.directory =
        flags.out.empty() ? "difffuzz-out/" + std::to_string(options.seed) : flags.out;
    const ToolPaths tools = find_tools(flags);
    options.subject = tools.subject;
    options.reference = tools.reference;
    options.baseline = find_baseline(flags);
    options.fixed_meanwhile = flags.fixed_meanwhile;
    options.canary = find_canary();
    options.faults = planted_faults();
    return options;
}

// Whatever comes of it, the campaign's verdict stands.
void create_issues(const FilingJob& job, const CampaignOptions& options, const Verdict& verdict) {
    if (verdict.exit == ExitCode::interrupted) {
        std::cout << "issues: none filed, since the campaign was interrupted\n";
        return;
    }
    std::cout << "issues:\n";
    try {
        std::vector<FoundBucket> buckets;
        for (FoundBucket& bucket : load_buckets(options.directory)) {
            const std::string why = never_filed(bucket, false);
            if (why.empty()) {
                buckets.push_back(std::move(bucket));
            } else {
                std::cout << printable_text(bucket.directory + ": not filed: " + why) << "\n";
            }
        }
        const EvidenceLock lock(options.directory);
        if (!file_buckets(options.directory, buckets, job)) {
            std::cout << "not all could be filed; 'difffuzz file "
                      << printable_text(options.directory) << "' tries again\n";
        }
    } catch (const std::runtime_error& error) {
        std::cout << "nothing more could be filed: " << printable_text(error.what()) << "\n";
    }
}

int run(const Flags& flags) {
    spdlog::set_default_logger(spdlog::stderr_logger_st("difffuzz"));
    spdlog::set_pattern("%H:%M:%S %v");
    std::optional<FilingJob> filing;
    if (flags.create_issues) {
        filing = filing_job(flags, false);
    }
    const CampaignOptions options = options_from(flags);
    std::optional<Seen> seen;
    if (!flags.seen.empty()) {
        seen.emplace(flags.seen, options.directory);
    }
    CampaignResult result;
    {
        ProgressPrinter printer;
        CampaignHooks hooks;
        hooks.progress = [&](const Progress& progress) { printer(progress); };
        hooks.note = [](const std::string& line) { spdlog::info(printable_text(line)); };
        result = run_campaign(options, hooks);
    }
    nlohmann::json summary = summary_json(result);
    if (seen) {
        summary["seen"] = seen->compared_with(summary);
    }
    write_summary(summary, options.directory);
    if (seen && result.verdict.exit != ExitCode::interrupted) {
        seen->remember(summary);
    }
    if (filing) {
        create_issues(*filing, options, result.verdict);
    }
    return static_cast<int>(result.verdict.exit);
}

}  // namespace

CommandSpec run_command() {
    CommandSpec command{
        "run",
        "runs a campaign: draws cases, runs both tools, compares, keeps what differs",
        "difffuzz run --iterations 2000 --seed 42 --subject ./my-qemu-img --ops convert,bench=2",
        {"--iterations",
         "--seed",
         "--subject",
         "--reference",
         "--baseline",
         "--fixed-meanwhile",
         "--seen",
         "--ops",
         "--jobs",
         "--timeout",
         "--out,--log-dir",
         "--resume",
         "--max-new",
         "--shard",
         "--duration",
         "--min-compared",
         "--max-inconclusive",
         "--damaged",
         "--triage-runs",
         "--no-triage",
         "--determinism",
         "--known",
         "--known-dir",
         "--run-as",
         "--subject-source",
         "--expose",
         "--memory-limit",
         "--disk-limit",
         "--no-config",
         "--create-issues"},
        "",
        0,
        0,
        run};
    command.flags.insert(command.flags.end(), std::begin(filing_flags), std::end(filing_flags));
    return command;
}

}  // namespace difffuzz

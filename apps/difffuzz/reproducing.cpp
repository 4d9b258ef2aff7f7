#include "apps/difffuzz/reproducing.hpp"

#include <algorithm>

#include <boost/asio/io_context.hpp>

#include "apps/difffuzz/scratch_directory.hpp"
#include "apps/difffuzz/tools.hpp"
#include "campaign/identify.hpp"
#include "campaign/run_tasks.hpp"
#include "campaign/workers/pool.hpp"

namespace difffuzz {
namespace {

constexpr unsigned repro_runs = 3;

CaseReport run_once(WorkerPool& pool, const ParsedRecord& input) {
    Task task;
    task.recipe = input.recipe;
    task.digests = true;
    task.ends = true;
    task.second = second_run_of(input);
    return run_task(pool, std::move(task));
}

}  // namespace

Found judge_run(const ParsedRecord& input, const CaseReport& report) {
    switch (report.terminal) {
        case Terminal::agreed:
        case Terminal::refused_by_both:
            return Found::gone;
        case Terminal::diverged:
            return !input.symptom || to_json(*input.symptom) == report.symptom ? Found::same
                                                                               : Found::other;
        default:
            return Found::unclear;
    }
}

RunCounts count_runs(const ParsedRecord& input, const std::vector<CaseReport>& reports) {
    RunCounts counts;
    for (const CaseReport& report : reports) {
        switch (judge_run(input, report)) {
            case Found::same:
                ++counts.same;
                break;
            case Found::other:
                ++counts.other;
                break;
            case Found::gone:
                ++counts.gone;
                break;
            case Found::unclear:
                ++counts.unclear;
                break;
        }
    }
    return counts;
}

SecondRun second_run_of(const ParsedRecord& input) {
    if (!input.symptom) {
        return {Again::at_once};
    }
    return {input.symptom->layer == LayerId::determinism ? Again::later_second : Again::no};
}

std::string drifted_image(const ParsedRecord& input, const CaseReport& report) {
    for (const auto& [id, digest] : input.image_digests) {
        const auto found = report.image_digests.find(id);
        if (found == report.image_digests.end() || found->second != digest) {
            return id;
        }
    }
    return {};
}

struct Reproducer::State {
    ScratchDirectory scratch;
    boost::asio::io_context context;
    CampaignOptions options;
    std::unique_ptr<WorkerPool> pool;
};

Reproducer::Reproducer(const Flags& flags) : state_(std::make_unique<State>()) {
    const ToolPaths tools = find_tools(flags);
    CampaignOptions& options = state_->options;
    options.subject = tools.subject;
    options.reference = tools.reference;
    options.exposed = exposed_from(flags);
    options.run_as = tool_identity(flags);
    options.limits = limits_from(flags);
    state_->pool = std::make_unique<WorkerPool>(state_->context, options.executable,
                                                state_->scratch.descriptor(),
                                                worker_setup(options, default_plan()), 1);
}

Reproducer::~Reproducer() = default;

std::string Reproducer::subject_version() const {
    const auto& tools = state_->pool->ready().tools;
    const auto subject = std::ranges::find(tools, "subject", &FoundTool::name);
    return subject == tools.end()
               ? ""
               : subject->version_output.substr(0, subject->version_output.find('\n'));
}

std::vector<CaseReport> Reproducer::run(const ParsedRecord& input) {
    std::vector<CaseReport> reports{run_once(*state_->pool, input)};
    while (reports.size() < repro_runs && judge_run(input, reports.front()) != Found::same) {
        reports.push_back(run_once(*state_->pool, input));
    }
    return reports;
}

}  // namespace difffuzz

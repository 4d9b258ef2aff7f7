#include "apps/difffuzz/case_runner.hpp"

#include <algorithm>

#include <boost/asio/io_context.hpp>

#include "apps/difffuzz/scratch_directory.hpp"
#include "apps/difffuzz/tools.hpp"
#include "campaign/identify.hpp"
#include "campaign/run_tasks.hpp"
#include "oracles/layer.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t longest_field = 160;

// A field of a symptom, quoted; empty where it says nothing.
std::string field_of(const nlohmann::json& symptom, const char* key) {
    const std::string text = symptom.value(key, std::string());
    return text.empty() ? "" : "'" + shown_text(text, longest_field) + "'";
}

// "class: subject succeeded '…', reference refused '…'".
std::string shown_symptom(const nlohmann::json& symptom) {
    std::string text = shown_text(symptom.value("field", std::string()), longest_field);
    for (const std::string side : {"subject", "reference"}) {
        const std::string message = field_of(symptom, (side + "_message").c_str());
        text += (text.empty() ? "" : ", ") + side + " " +
                symptom.value(side + "_class", std::string()) +
                (message.empty() ? "" : " " + message);
    }
    return text;
}

bool is_gate(const std::string& name) {
    return std::ranges::any_of(
        layers(), [&](const Layer& one) { return one.gate && to_string(one.id) == name; });
}

}  // namespace

struct CaseRunner::State {
    ScratchDirectory scratch;
    boost::asio::io_context context;
    std::unique_ptr<WorkerPool> pool;
};

CaseRunner::CaseRunner(const CampaignOptions& options) : state_(std::make_unique<State>()) {
    state_->pool = std::make_unique<WorkerPool>(
        state_->context, options.executable, state_->scratch.descriptor(),
        worker_setup(options, default_plan()), options.jobs);
}

CaseRunner::~CaseRunner() = default;

std::vector<CaseReport> CaseRunner::run(std::deque<Task> tasks) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        tasks[i].index = i;
    }
    std::vector<CaseReport> reports = run_tasks(*state_->pool, std::move(tasks));
    std::ranges::sort(reports, {}, &CaseReport::index);
    return reports;
}

WorkerPool& CaseRunner::pool() { return *state_->pool; }

CampaignOptions case_options(const Flags& flags) {
    CampaignOptions options;
    const ToolPaths tools = find_tools(flags);
    options.subject = tools.subject;
    options.reference = tools.reference;
    options.exposed = exposed_from(flags);
    options.run_as = tool_identity(flags);
    options.limits = limits_from(flags);
    options.jobs = jobs_from(flags);
    return options;
}

std::string shown_verdict(const CaseReport& report) {
    switch (report.terminal) {
        case Terminal::agreed:
            return "agrees";
        case Terminal::refused_by_both:
            return "refused by both";
        case Terminal::diverged:
            return "diverges: " + report.type + " (" + report.severity + ") at step " +
                   std::to_string(report.culprit_step) + ": " + shown_symptom(report.symptom);
        default:
            return "no verdict: " + std::string(to_string(report.terminal)) +
                   (report.reason.empty() ? "" : ", " + shown_text(report.reason, longest_field));
    }
}

std::vector<std::string> compared_layers(const CaseReport& report) {
    std::vector<std::string> names;
    for (const LayerVerdictReport& one : report.layers) {
        const bool compared =
            one.verdict == LayerVerdict::agree || one.verdict == LayerVerdict::diverge;
        if (compared && !is_gate(one.layer)) {
            names.push_back(one.layer);
        }
    }
    return names;
}

}  // namespace difffuzz

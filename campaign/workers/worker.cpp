#include "campaign/workers/worker.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <sys/resource.h>

#include "campaign/evidence/record.hpp"
#include "campaign/execution/recorded.hpp"
#include "campaign/execution/tool_command.hpp"
#include "campaign/triage/fingerprint.hpp"
#include "campaign/workers/frames.hpp"
#include "campaign/workers/messages.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"
#include "oracles/crash_sign.hpp"
#include "oracles/message_template.hpp"
#include "oracles/shown_text.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

std::uint64_t microseconds(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(time.tv_usec);
}

std::uint64_t cpu_us(const rusage& usage) {
    return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
}

std::string own_words(const Outcome& outcome) {
    constexpr std::size_t longest = 200;
    if (const auto* failed = std::get_if<FailedToStart>(&outcome.ending)) {
        return failed->what + ": " + std::generic_category().message(failed->error_number);
    }
    return shown_text(first_line(outcome.err.head), longest);
}

// As shells and loaders say it.
bool could_not_run(const Ending& ending) {
    const auto* exited = std::get_if<Exited>(&ending);
    return std::holds_alternative<FailedToStart>(ending) ||
           (exited != nullptr && (exited->code == 126 || exited->code == 127));
}

std::optional<SideEnd> side_end(const Case& c, const Observation& side,
                                const std::vector<int>& answer_codes) {
    if (side.steps.empty()) {
        return std::nullopt;
    }
    for (std::size_t s = 0; s < side.steps.size(); ++s) {
        OutcomeClass outcome = step_class(side.steps[s], answer_codes);
        // A sanitizer ends the tool with an exit code, as if it had refused.
        if (outcome == OutcomeClass::refused && crash_sign(side.steps[s].outcome)) {
            outcome = OutcomeClass::crashed;
        }
        if (c.steps[s].actor == Actor::tool && outcome != OutcomeClass::succeeded) {
            return SideEnd{std::string(to_string(outcome)),
                           could_not_run(side.steps[s].outcome.ending),
                           own_words(side.steps[s].outcome)};
        }
    }
    return SideEnd{std::string(to_string(OutcomeClass::succeeded)), false, {}};
}

// Versions and formats are ASCII; nothing else that a tool prints for them is of use.
std::string in_ascii(std::string text) {
    std::replace_if(
        text.begin(), text.end(),
        [](char byte) { return byte != '\n' && byte != '\t' && (byte < 0x20 || byte > 0x7e); },
        '?');
    return text;
}

FoundTool question_tool(Sandbox& sandbox, const SandboxTool& tool, const Limits& limits) {
    FoundTool found{tool.name, tool.files, tool.stamps, {}, {}, {}, {}};
    const auto ask = [&](const char* option, std::string& into) {
        const Outcome outcome = sandbox.run(tool_command(sandbox, tool, 0, {0}, {option}, limits));
        into = in_ascii(stream_text(outcome.out).substr(0, std::size_t{256} << 10));
        if (const auto* failed = std::get_if<FailedToStart>(&outcome.ending)) {
            found.failure = "it cannot be started (" + failed->what + ": " +
                            std::generic_category().message(failed->error_number) + ")";
        } else if (std::holds_alternative<TimedOut>(outcome.ending)) {
            found.failure = std::string("it does not answer ") + option + " in time";
        }
        return found.failure.empty();
    };
    sandbox.reset(0);
    if (ask("--version", found.version_output)) {
        ask("--help", found.help_output);
        const Outcome zstd = sandbox.run(tool_command(
            sandbox, tool, 0, {0},
            {"create", "-f", "qcow2", "-o", "compression_type=zstd", "probe.qcow2", "1M"}, limits));
        if (outcome_class(zstd.ending) == OutcomeClass::succeeded) {
            found.features.emplace_back("zstd");
        }
    }
    return found;
}

class Worker {
public:
    Worker(int socket, int staging, const WorkerSetup& setup, const ExtraFiles& extra)
        : socket_(socket),
          staging_(staging),
          setup_(setup),
          extra_(extra),
          sandbox_(setup.sandbox),
          executor_(sandbox_, setup.limits),
          registry_(make_registry(setup.known)),
          cases_(setup_.plan, setup.seed, registry_),
          plan_digest_(plan_digest(setup.plan)) {
        for (const SandboxTool& tool : sandbox_.tools()) {
            if (const auto expected = setup.stamps.find(tool.name);
                expected != setup.stamps.end()) {
                require_same_files(tool.name, expected->second, tool.stamps);
            }
        }
        know_reach(setup.plan, setup.reach);
        if (!setup.subject_profile.empty()) {
            subject_ = profile_from_json(json::parse(setup.subject_profile), "");
            reference_ = profile_from_json(json::parse(setup.reference_profile), "");
        }
    }

    void answer_ready() {
        WorkerReady ready;
        ready.containment = sandbox_.containment();
        // Only the first worker is asked: the others get the profiles made from its answer.
        if (setup_.subject_profile.empty()) {
            for (const SandboxTool& tool : sandbox_.tools()) {
                ready.tools.push_back(
                    tool.stand_in ? FoundTool{tool.name, tool.files, tool.stamps, {}, {}, {}, {}}
                                  : question_tool(sandbox_, tool, setup_.limits));
            }
        }
        send_frame(socket_, to_json(ready).dump());
    }

    void serve() {
        while (const auto text = receive_frame(socket_)) {
            const json message = json::parse(*text);
            if (message.contains("stop")) {
                send_frame(socket_, to_json(usage()).dump());
                continue;
            }
            try {
                send_frame(socket_, to_json(run(task_from_json(message))).dump());
            } catch (const EnvironmentError& error) {
                send_frame(socket_, json{{"error", printable_text(error.what())}}.dump());
            } catch (const UsageError& error) {
                send_frame(socket_, json{{"usage_error", printable_text(error.what())}}.dump());
            }
        }
    }

private:
    CaseReport run(const Task& task) {
        saturated_.insert(task.saturated.begin(), task.saturated.end());
        CaseReport report;
        report.index = task.index;
        std::optional<Case> c = task.recipe;
        if (!c) {
            DrawnCase drawn = cases_.draw(task.index);
            c = std::move(drawn.c);
            report.steered = std::move(drawn.steered);
        }
        if (!c) {
            report.terminal = Terminal::exhausted;
            return report;
        }
        report.operation = c->operation;
        report.intent = std::string(intent_name(*c));
        report.rule = std::string(broken_rule(*c));
        report.reach = reach_of_case(*c);
        CaseResult result = compared(*c, task, report.timeouts);
        report.terminal = result.terminal;
        report.reason = message_template(result.reason, case_file_names(*c));
        report.compared = result.compared;
        report.reference_accepted = result.reference_accepted;
        report.subject_accepted = result.subject_accepted;
        for (const LayerReport& layer : result.layers) {
            report.layers.push_back({layer.name, layer.result.verdict, layer.result.reason});
            for (const std::string_view normaliser : layer.result.needed) {
                ++report.normalisers[std::string(normaliser)];
            }
        }
        report.planted = result.planted;
        if (task.layers) {
            for (const LayerReport& layer : result.layers) {
                if (layer.result.verdict == LayerVerdict::diverge) {
                    report.diverged.push_back(layer.id);
                }
            }
        }
        if (task.digests) {
            report.image_digests = executor_.image_digests(*c);
        }
        if (task.ends) {
            const std::vector<int>& answers = find_operation(c->operation)->answer_codes;
            report.subject_end = side_end(*c, result.subject, answers);
            report.reference_end = side_end(*c, result.reference, answers);
        }
        if (task.outcomes) {
            report.reference_outcomes = recorded_outcomes(*c, result.reference);
        }
        if (result.difference) {
            report_difference(*c, result, task, report);
        }
        return report;
    }

    CaseResult compared(const Case& c, const Task& task, TimeoutReport& timeouts) {
        CaseResult result = run_until_in_time(c, task, timeouts);
        const bool could_run = result.terminal != Terminal::harness_fixture;
        if (task.recorded.is_null() || !could_run) {
            return result;
        }
        return compare_with_recorded(c, result.subject,
                                     observation_from_recorded(task.recorded, ""), setup_.limits);
    }

    // Reruns a case whose tools timed out, up to task.runs times in all.
    CaseResult run_until_in_time(const Case& c, const Task& task, TimeoutReport& timeouts) {
        CaseResult result;
        bool quick = true;
        for (unsigned attempt = 0; attempt < task.runs; ++attempt) {
            result = executor_.run(c, task.roles == RolePair{} ? setup_.roles : task.roles,
                                   task.without, task.second);
            timeouts.subject += result.subject_timed_out ? 1 : 0;
            timeouts.reference += result.reference_timed_out ? 1 : 0;
            if (!result.subject_timed_out && !result.reference_timed_out) {
                return result;
            }
            const Observation& other = result.subject_timed_out ? result.reference : result.subject;
            const std::uint64_t tenth =
                static_cast<std::uint64_t>(setup_.limits.time.count()) * 1000 / 10;
            for (const StepObservation& step : other.steps) {
                quick &= step.outcome.usage.wall_us <= tenth;
            }
        }
        const bool one_side = (timeouts.subject == 0) != (timeouts.reference == 0);
        timeouts.hang = task.runs >= 3 && one_side && quick &&
                        timeouts.subject + timeouts.reference == task.runs;
        return result;
    }

    void report_difference(const Case& c, CaseResult& result, const Task& task,
                           CaseReport& report) {
        const Difference& difference = *result.difference;
        report.type = record_type(difference.symptom);
        report.severity = std::string(to_string(difference.severity));
        report.fingerprint = unshrunk_fingerprint(c, result.culprit_step, difference.symptom);
        report.symptom = to_json(difference.symptom);
        report.culprit_step = result.culprit_step;
        // What an entry says is about the two tools, each in its role.
        if (task.roles == RolePair{}) {
            report.known = cases_.filter().classify(c, result.culprit_step, difference.symptom);
        }
        if (task.stage.empty() || (!task.recipe && saturated_.contains(report.bucket_key()))) {
            return;
        }
        const RecordOrigin origin{setup_.seed, task.index, plan_digest_,
                                  subject_,    reference_, executor_.image_digests(c),
                                  report.known};
        // Of a drawn case a better one is looked for first.
        if (task.recipe) {
            result.readings = executor_.read_across(c, task.roles, result);
        }
        const json record = make_record(c, result, origin);
        stage_record(staging_, task.stage, record, result,
                     extra_(c, result, sandbox_.directory(2)));
        report.staged = true;
        report.attribution = record.at("attribution");
    }

    WorkerUsage usage() const {
        rusage own{};
        rusage tools{};
        ::getrusage(RUSAGE_SELF, &own);
        ::getrusage(RUSAGE_CHILDREN, &tools);
        return {cpu_us(own), cpu_us(tools), 0, 0, static_cast<std::uint64_t>(own.ru_maxrss) * 1024};
    }

    int socket_;
    int staging_;
    WorkerSetup setup_;
    const ExtraFiles& extra_;
    Sandbox sandbox_;
    Executor executor_;
    Registry registry_;
    CaseSource cases_;
    std::string plan_digest_;
    Profile subject_;
    Profile reference_;
    std::set<std::string> saturated_;
};

}  // namespace

int serve_worker(int socket, const ExtraFiles& extra) {
    const FileDescriptor staging(receive_descriptor(socket));
    const auto text = receive_frame(socket);
    if (!text) {
        return static_cast<int>(ExitCode::holds);
    }
    std::unique_ptr<Worker> worker;
    try {
        worker = std::make_unique<Worker>(socket, staging.get(),
                                          setup_from_json(json::parse(*text)), extra);
    } catch (const EnvironmentError& error) {
        WorkerReady failed;
        failed.error = printable_text(error.what());
        send_frame(socket, to_json(failed).dump());
        return static_cast<int>(ExitCode::environment);
    }
    worker->answer_ready();
    worker->serve();
    return static_cast<int>(ExitCode::holds);
}

}  // namespace difffuzz

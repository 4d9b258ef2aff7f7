// difffuzz shrink: makes the case of a record or recipe as small as it can be.
#include <iostream>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/input.hpp"
#include "apps/difffuzz/output_file.hpp"
#include "apps/difffuzz/reproducing.hpp"
#include "apps/difffuzz/scratch_directory.hpp"
#include "apps/difffuzz/tools.hpp"
#include "campaign/evidence/files.hpp"
#include "campaign/evidence/record.hpp"
#include "campaign/identify.hpp"
#include "campaign/run_tasks.hpp"
#include "campaign/triage/result.hpp"
#include "campaign/triage/scheduler.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

constexpr const char* stage = "shrunk";

std::string counted(std::size_t number, const std::string& one) {
    return std::to_string(number) + " " + one + (number == 1 ? "" : "s");
}

// "3 steps, 7 arguments, 2 images, 5 writes".
std::string size_in_words(const Case& c) {
    std::size_t arguments = 0;
    std::size_t writes = 0;
    for (const Step& step : c.steps) {
        arguments += step.arguments.size();
    }
    for (const ImageRecipe& image : c.images) {
        writes += image.content.size();
    }
    return counted(c.steps.size(), "step") + ", " + counted(arguments, "argument") + ", " +
           counted(c.images.size(), "image") + ", " + counted(writes, "write");
}

int tell_no_divergence(const CaseReport& report) {
    if (report.terminal == Terminal::agreed || report.terminal == Terminal::refused_by_both) {
        std::cout << "gone: both tools agree (" << to_string(report.terminal) << ")\n";
        return static_cast<int>(ExitCode::does_not_hold);
    }
    std::cout << printable_text("no verdict: " + std::string(to_string(report.terminal)) +
                                (report.reason.empty() ? "" : ", " + report.reason))
              << "\n";
    return static_cast<int>(ExitCode::no_verdict);
}

// Nothing of the sighting came again, or not each time.
int tell_unconfirmed(const TriageSession& session) {
    std::size_t agreed = 0;
    for (const Confirmation& one : session.confirmations()) {
        const bool same = one.terminal == to_string(Terminal::agreed) ||
                          one.terminal == to_string(Terminal::refused_by_both);
        agreed += same ? 1U : 0U;
    }
    if (agreed == session.confirmations().size()) {
        std::cout << "gone: both tools agree\n";
        return static_cast<int>(ExitCode::does_not_hold);
    }
    std::cout << "flaky: not every run shows the symptom; nothing was shrunk\n";
    for (const Confirmation& one : session.confirmations()) {
        std::cout << "  " << printable_text(one.terminal + " " + one.type) << "\n";
    }
    return static_cast<int>(ExitCode::no_verdict);
}

// The files that get the result: the record and its script.
struct ResultFiles {
    OutputFile record;
    OutputFile script;
};

// The record that the worker staged, with what triage adds and where the case came from.
void write_result(const ScratchDirectory& scratch, const TriageSession& session,
                  const ParsedRecord& input, const ResultFiles& files) {
    const std::string staged = scratch.path() + "/" + stage;
    nlohmann::json record =
        parse_bounded(read_file(staged + "/record.json", max_record_bytes), max_record_bytes, 128);
    finish_record(record, session, result_of(session, input.fingerprint, {}));
    if (!input.plan.empty()) {
        record["plan"] = input.plan;
    }
    write_output(files.record, record.dump(2) + "\n");
    write_output(files.script, read_file(staged + "/reproduce.sh", max_record_bytes));
}

int shrink(const Flags& flags) {
    const ParsedRecord input = read_record_or_recipe(flags.positional.at(0));
    std::optional<ResultFiles> files;
    if (!flags.out.empty()) {
        files = {new_output_file("--out", flags.out), new_output_file("--out", flags.out + ".sh")};
    }
    CampaignOptions options;
    const ToolPaths tools = find_tools(flags);
    options.subject = tools.subject;
    options.reference = tools.reference;
    options.exposed = exposed_from(flags);
    options.run_as = tool_identity(flags);
    options.limits = limits_from(flags);
    options.jobs = jobs_from(flags);
    const ScratchDirectory scratch;
    const IdentifiedTools identified = identify_tools(options, scratch.descriptor());
    WorkerSetup setup = worker_setup(options, default_plan());
    setup.seed = input.seed;
    setup.subject_profile = to_json(identified.subject).dump();
    setup.reference_profile = to_json(identified.reference).dump();
    setup.stamps = identified.stamps;
    boost::asio::io_context context;
    WorkerPool pool(context, options.executable, scratch.descriptor(), setup, options.jobs);

    Sighting sighting{
        {input.recipe, input.culprit_step}, {}, input.iteration, stage, true, second_run_of(input)};
    if (input.symptom) {
        sighting.symptom_key = symptom_key(*input.symptom);
    } else {
        Task task;
        task.recipe = input.recipe;
        task.second = second_run_of(input);
        const CaseReport report = run_task(pool, std::move(task));
        if (report.terminal != Terminal::diverged) {
            return tell_no_divergence(report);
        }
        sighting.seen.culprit = report.culprit_step;
        sighting.symptom_key = symptom_key(symptom_from_json(report.symptom));
    }
    std::deque<std::unique_ptr<TriageSession>> sessions;
    sessions.push_back(
        std::make_unique<TriageSession>(std::move(sighting), flags.triage_runs.value_or(300)));
    int code = static_cast<int>(ExitCode::no_verdict);
    run_sessions(pool, std::move(sessions), options.jobs, [&](TriageSession& session) {
        if (!session.staged()) {
            code = tell_unconfirmed(session);
            return;
        }
        std::cout << "from " << size_in_words(input.recipe) << "\nto   "
                  << size_in_words(session.least().c) << ", after "
                  << counted(session.runs(), "run")
                  << (session.minimal() ? "; nothing more can go\n"
                                        : "; more might go with more --runs\n")
                  << shown_commands(session.least().c);
        if (session.explanation()) {
            for (const std::string& line : session.explanation()->lines()) {
                std::cout << "  " << printable_text(line) << "\n";
            }
        }
        if (!files) {
            std::cout << to_json(session.least().c).dump(-1, ' ', true) << "\n";
        } else {
            write_result(scratch, session, input, *files);
            std::cout << "record: " << printable_text(flags.out)
                      << "\nscript: " << printable_text(flags.out) << ".sh\n";
        }
        code = static_cast<int>(ExitCode::holds);
    });
    return code;
}

}  // namespace

CommandSpec shrink_command() {
    return {"shrink",
            "makes the case of a record or recipe as small as it can be with the same symptom",
            "difffuzz shrink record.json --subject ./my-qemu-img --out minimal.json",
            {"--subject", "--reference", "--runs", "--jobs", "--out,--log-dir", "--timeout",
             "--run-as", "--expose", "--memory-limit", "--disk-limit", "--no-config"},
            "FILE",
            1,
            1,
            shrink};
}

}  // namespace difffuzz

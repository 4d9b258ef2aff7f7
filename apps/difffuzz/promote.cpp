// difffuzz promote: makes an entry of a corpus from a record or a recipe, by a person's word.
#include <filesystem>
#include <iostream>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "apps/difffuzz/case_runner.hpp"
#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/input.hpp"
#include "apps/difffuzz/output.hpp"
#include "apps/difffuzz/output_file.hpp"
#include "apps/difffuzz/scratch_directory.hpp"
#include "apps/difffuzz/tools.hpp"
#include "campaign/corpus/corpus.hpp"
#include "campaign/execution/recorded.hpp"
#include "campaign/identify.hpp"
#include "campaign/triage/scheduler.hpp"
#include "core/cases/digest.hpp"
#include "core/cases/recipe_json.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t longest_words = 1000;
constexpr std::uint64_t usual_runs = 300;
constexpr std::size_t promoting_runs = 3;

// A corpus is what people vouch for: whoever promotes says so at a terminal, or by name.
std::string person(const Flags& flags) {
    if (!flags.by.empty()) {
        return shown_text(flags.by, longest_words);
    }
    if (::isatty(STDIN_FILENO) != 1) {
        throw UsageError(
            "promote needs a person: run it at a terminal, or say who you are with --by NAME");
    }
    std::cout << "Who promotes this? " << std::flush;
    std::string name;
    if (!std::getline(std::cin, name) || name.empty()) {
        throw UsageError("promote needs a person: nobody was named");
    }
    return shown_text(name, longest_words);
}

// Three runs that all say the same, or nothing.
std::optional<CaseReport> seen_each_time(CaseRunner& runner, const Case& c) {
    std::optional<CaseReport> seen;
    for (std::size_t run = 0; run < promoting_runs; ++run) {
        Task task;
        task.recipe = c;
        task.outcomes = true;
        CaseReport report = runner.run({std::move(task)}).front();
        if (seen && (seen->terminal != report.terminal || seen->symptom != report.symptom)) {
            return std::nullopt;
        }
        seen = std::move(report);
    }
    return seen;
}

// The least case with the symptom that was seen.
Case shrunk(CaseRunner& runner, const Case& c, const CaseReport& seen, const Flags& flags) {
    Sighting sighting{
        {c, seen.culprit_step}, symptom_key(symptom_from_json(seen.symptom)), 0, "shrunk", false};
    std::deque<std::unique_ptr<TriageSession>> sessions;
    sessions.push_back(std::make_unique<TriageSession>(std::move(sighting),
                                                       flags.triage_runs.value_or(usual_runs)));
    Case least = c;
    run_sessions(runner.pool(), std::move(sessions), jobs_from(flags), [&](TriageSession& session) {
        if (session.staged()) {
            least = session.least().c;
        }
    });
    return least;
}

CorpusEntry entry_for(const Case& c, const CaseReport& seen, const IdentifiedTools& tools,
                      const Flags& flags) {
    CorpusEntry entry;
    entry.recipe = c;
    entry.state = seen.terminal == Terminal::diverged ? CorpusState::open : CorpusState::closed;
    if (entry.state == CorpusState::open) {
        entry.symptom = symptom_from_json(seen.symptom);
    }
    entry.why = flags.why.empty() ? shown_verdict(seen) : shown_text(flags.why, longest_words);
    if (needs_reference(c).empty() && !seen.reference_outcomes.is_null()) {
        entry.recorded = {tools.reference.version_text, seen.reference_outcomes};
    }
    return entry;
}

std::string name_for(const CorpusEntry& entry, const CaseReport& seen) {
    constexpr std::size_t digits = 16;
    return (entry.symptom ? record_type(*entry.symptom) : seen.operation + "_agrees") + "-" +
           sha256_hex(to_json(entry.recipe).dump()).substr(0, digits) + ".json";
}

int promote(const Flags& flags) {
    const std::string by = person(flags);
    const ParsedRecord input = read_record_or_recipe(flags.positional.at(0));
    const std::string& directory = flags.positional.at(1);
    std::error_code error;
    if (!std::filesystem::is_directory(directory, error)) {
        throw UsageError("'" + directory + "' is no directory; make it first");
    }
    const CampaignOptions options = case_options(flags);
    const ScratchDirectory scratch;
    const IdentifiedTools tools = identify_tools(options, scratch.descriptor());
    CaseRunner runner(options);
    std::optional<CaseReport> seen = seen_each_time(runner, input.recipe);
    Case c = input.recipe;
    if (seen && seen->terminal == Terminal::diverged) {
        c = shrunk(runner, c, *seen, flags);
        seen = seen_each_time(runner, c);
    }
    const bool told =
        seen && (seen->terminal == Terminal::diverged || seen->terminal == Terminal::agreed ||
                 seen->terminal == Terminal::refused_by_both);
    if (!told) {
        print_line("not promoted: " +
                   (seen ? shown_verdict(*seen) : "it comes and goes; what is kept must not"));
        return static_cast<int>(ExitCode::no_verdict);
    }
    CorpusEntry entry = entry_for(c, *seen, tools, flags);
    entry.promoted_by = by;
    const std::string path = directory + "/" + name_for(entry, *seen);
    write_output(new_output_file("the entry", path), to_json(entry).dump(1) + "\n");
    std::cout << shown_commands(c);
    print_line(std::string(to_string(entry.state)) + ": " + shown_verdict(*seen));
    print_line("entry: " + path + "; say of which versions it speaks, and 'git add' it");
    require_output();
    return static_cast<int>(ExitCode::holds);
}

}  // namespace

CommandSpec promote_command() {
    return {"promote",
            "makes an entry of a corpus from a record, shrunk first; needs a person",
            "difffuzz promote record.json corpus/ --by 'Ada L.' --subject ./my-qemu-img",
            {"--by", "--why", "--runs", "--subject", "--reference", "--jobs", "--timeout",
             "--run-as", "--expose", "--memory-limit", "--disk-limit", "--no-config"},
            "RECORD DIR",
            2,
            2,
            promote};
}

}  // namespace difffuzz

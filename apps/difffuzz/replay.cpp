// difffuzz replay: runs the entries of a corpus and says which no longer hold.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "apps/difffuzz/case_runner.hpp"
#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/output.hpp"
#include "apps/difffuzz/scratch_directory.hpp"
#include "apps/difffuzz/tools.hpp"
#include "campaign/corpus/corpus.hpp"
#include "campaign/identify.hpp"

namespace difffuzz {
namespace {

// Runs of a case whose first run is not what its entry demands.
constexpr std::size_t replay_runs = 3;

ToolPair pair_of(const IdentifiedTools& tools) {
    Plan plan;
    plan.versions = declared_versions(tools.subject, tools.reference);
    return declared_pair(plan);
}

// What is to be done about an entry that does not hold.
std::string advice(CorpusVerdict verdict) {
    switch (verdict) {
        case CorpusVerdict::gone:
            return "; if it is mended, make its state closed, so that it stays so";
        case CorpusVerdict::changed:
            return "; look at both, and promote it anew";
        case CorpusVerdict::returned:
            return "; 'difffuzz repro' of its recipe shows it";
        default:
            return "";
    }
}

class Replay {
public:
    Replay(const Flags& flags, const CampaignOptions& options)
        : recorded_(flags.recorded_reference), runner_(options) {
        const ScratchDirectory scratch;
        tools_ = pair_of(identify_tools(options, scratch.descriptor()));
    }

    CorpusVerdict run(const CorpusEntry& entry) {
        if (!speaks_of(entry, tools_.subject, recorded_ ? nullptr : &tools_.reference)) {
            return tell(entry, CorpusVerdict::not_asked, "it speaks of other tools or versions");
        }
        if (recorded_) {
            if (const std::string reason = not_recorded_reason(entry); !reason.empty()) {
                return tell(entry, CorpusVerdict::not_recorded, reason);
            }
        }
        std::vector<CaseReport> runs = runner_.run({task_for(entry)});
        while (judge_entry(entry, runs) != CorpusVerdict::holds && runs.size() < replay_runs) {
            runs.push_back(runner_.run({task_for(entry)}).front());
        }
        const CorpusVerdict verdict = judge_entry(entry, runs);
        return tell(entry, verdict,
                    shown_verdict(runs.back()) + advice(verdict) +
                        "; compared: " + shown_layers(runs.back()));
    }

private:
    static std::string shown_layers(const CaseReport& report) {
        const std::vector<std::string> layers = compared_layers(report);
        return layers.empty() ? "nothing" : fmt::format("{}", fmt::join(layers, ", "));
    }

    Task task_for(const CorpusEntry& entry) const {
        Task task;
        task.recipe = entry.recipe;
        if (recorded_) {
            task.roles.reference = task.roles.subject;
            task.recorded = entry.recorded->outcomes;
        }
        return task;
    }

    static CorpusVerdict tell(const CorpusEntry& entry, CorpusVerdict verdict,
                              const std::string& what) {
        print_line(fmt::format("{:<12} {} ({}): {}", to_string(verdict), entry.name,
                               to_string(entry.state), what));
        std::cout.flush();
        return verdict;
    }

    bool recorded_;
    CaseRunner runner_;
    ToolPair tools_;
};

CampaignOptions options_of(const Flags& flags) {
    if (!flags.recorded_reference) {
        return case_options(flags);
    }
    if (!flags.reference.empty()) {
        throw UsageError(
            "--recorded-reference and --reference do not go together: what the reference did is "
            "taken from the entries");
    }
    // Nothing asks the reference anything then; the subject stands there so that there is one.
    Flags alone = flags;
    alone.reference = find_subject(flags);
    return case_options(alone);
}

int replay(const Flags& flags) {
    const std::string& directory = flags.positional.at(0);
    const std::vector<CorpusEntry> entries = read_corpus(directory);
    const CampaignOptions options = options_of(flags);
    Replay replay(flags, options);
    print_line(fmt::format(
        "corpus '{}': {} {} replayed{}; no case is drawn, so this says nothing "
        "about any other",
        directory, entries.size(), entries.size() == 1 ? "entry" : "entries",
        flags.recorded_reference ? " against what references did when they were recorded" : ""));
    std::vector<CorpusVerdict> verdicts;
    for (const CorpusEntry& entry : entries) {
        verdicts.push_back(replay.run(entry));
    }
    const auto count = [&](CorpusVerdict wanted) { return std::ranges::count(verdicts, wanted); };
    const auto without = count(CorpusVerdict::not_asked) + count(CorpusVerdict::not_recorded);
    const auto holding = count(CorpusVerdict::holds);
    const auto unclear = count(CorpusVerdict::unclear);
    const auto broken = static_cast<std::ptrdiff_t>(verdicts.size()) - without - holding - unclear;
    const ExitCode code = corpus_exit(verdicts);
    print_line(fmt::format("replay {}: {} {} as recorded, {} {} not, {} unclear, {} not run",
                           code == ExitCode::holds           ? "green"
                           : code == ExitCode::does_not_hold ? "red"
                                                             : "without a verdict",
                           holding, holding == 1 ? "holds" : "hold", broken,
                           broken == 1 ? "does" : "do", unclear, without));
    require_output();
    return static_cast<int>(code);
}

}  // namespace

CommandSpec replay_command() {
    return {"replay",
            "runs the entries of a corpus: 0 all hold, 1 one returned, changed or is gone",
            "difffuzz replay corpus/ --subject ./my-qemu-img",
            {"--recorded-reference", "--subject", "--reference", "--jobs", "--timeout", "--run-as",
             "--expose", "--memory-limit", "--disk-limit", "--no-config"},
            "DIR",
            1,
            1,
            replay};
}

}  // namespace difffuzz

// difffuzz probe: runs hand-written cases that lie in a directory.
#include <algorithm>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <regex.h>

#include "apps/difffuzz/case_runner.hpp"
#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/output.hpp"
#include "apps/difffuzz/output_file.hpp"
#include "campaign/json_files.hpp"
#include "campaign/probe.hpp"
#include "core/cases/json_fields.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

// The same cases each time, unless another seed is asked for.
constexpr std::uint64_t usual_seed = 1;
constexpr std::uint64_t usual_cases = 16;  // of a probe with open values
constexpr std::uint64_t most_cases = 10'000;
constexpr std::size_t longest_pattern = 500;

// An extended regular expression, found anywhere in a name.
class NamePattern {
public:
    explicit NamePattern(const std::string& text) : all_(text.empty()) {
        if (all_) {
            return;
        }
        const int error = text.size() > longest_pattern
                              ? REG_ESPACE
                              : ::regcomp(&expression_, text.c_str(), REG_EXTENDED | REG_NOSUB);
        if (error != 0) {
            char reason[128];
            ::regerror(error, nullptr, reason, sizeof reason);
            throw UsageError("--filter-name '" + shown_text(text, 80) +
                             "' is no extended regular expression: " + reason);
        }
    }
    ~NamePattern() {
        if (!all_) {
            ::regfree(&expression_);
        }
    }
    NamePattern(const NamePattern&) = delete;
    NamePattern& operator=(const NamePattern&) = delete;

    bool matches(const std::string& name) const {
        return all_ || ::regexec(&expression_, name.c_str(), 0, nullptr, 0) == 0;
    }

private:
    bool all_;
    regex_t expression_{};
};

struct ProbeCases {
    std::string name;
    bool open = false;
    std::vector<std::uint64_t> indices;
    std::vector<Case> cases;
};

ProbeCases cases_of(const JsonFile& file, const Flags& flags) {
    ProbeCases result;
    result.name = file.name;
    try {
        const Probe probe = parse_probe(file.text);
        result.open = probe.is_open();
        const std::uint64_t first = result.open ? flags.case_index.value_or(0) : 0;
        const std::uint64_t count =
            !result.open || flags.case_index ? 1 : flags.number.value_or(usual_cases);
        for (std::uint64_t i = 0; i < count; ++i) {
            result.indices.push_back(first + i);
            result.cases.push_back(case_of(probe, flags.seed.value_or(usual_seed), first + i));
        }
    } catch (const RecipeError& error) {
        throw UsageError("'" + file.path + "' is no probe that can be run: " + error.what());
    }
    return result;
}

// Every file is read, and every case made, before any of them runs.
std::vector<ProbeCases> chosen_probes(const Flags& flags) {
    const NamePattern pattern(flags.filter_name);
    std::vector<ProbeCases> probes;
    for (const JsonFile& file : read_json_files(flags.positional.at(0))) {
        if (pattern.matches(file.name)) {
            probes.push_back(cases_of(file, flags));
        }
    }
    if (probes.empty()) {
        throw UsageError("--filter-name '" + shown_text(flags.filter_name, 80) +
                         "' matches no probe below '" + flags.positional.at(0) + "'");
    }
    return probes;
}

// What the cases of one probe came to, in words: all alike, or how many of each, and which of them
// was the first.
std::string verdicts(const ProbeCases& probe, const std::vector<CaseReport>& reports) {
    if (reports.size() == 1) {
        return shown_verdict(reports.front());
    }
    struct Group {
        std::size_t count = 0;
        std::uint64_t first = 0;
    };
    std::map<std::string, Group> groups;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        Group& group = groups[shown_verdict(reports[i])];
        group.first = group.count++ == 0 ? probe.indices[i] : group.first;
    }
    std::vector<std::string> words;
    for (const auto& [verdict, group] : groups) {
        words.push_back(std::to_string(group.count) + " of " + std::to_string(reports.size()) +
                        " (from --case " + std::to_string(group.first) + ") " + verdict);
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string compared(const std::vector<CaseReport>& reports) {
    std::vector<std::string> layers;
    for (const CaseReport& report : reports) {
        for (const std::string& layer : compared_layers(report)) {
            if (std::ranges::find(layers, layer) == layers.end()) {
                layers.push_back(layer);
            }
        }
    }
    return layers.empty() ? "nothing" : fmt::format("{}", fmt::join(layers, ", "));
}

// The recipe of each case that diverged.
void keep_diverging(const std::string& directory, const ProbeCases& probe,
                    const std::vector<CaseReport>& reports) {
    for (std::size_t i = 0; i < reports.size() && !directory.empty(); ++i) {
        if (reports[i].terminal == Terminal::diverged) {
            std::string name = probe.name;
            std::ranges::replace(name, '/', '-');
            name += probe.open ? "-" + std::to_string(probe.indices[i]) : "";
            write_output(output_file("--recipes", directory + "/" + name + ".json"),
                         to_json(probe.cases[i]).dump(1) + "\n");
        }
    }
}

bool has_diverged(const CaseReport& report) { return report.terminal == Terminal::diverged; }

bool says_nothing(const CaseReport& report) {
    return !has_diverged(report) && report.terminal != Terminal::agreed &&
           report.terminal != Terminal::refused_by_both;
}

int probe(const Flags& flags) {
    if (flags.case_index && flags.number) {
        throw UsageError("--case and -n do not go together");
    }
    if (flags.number.value_or(1) > most_cases) {
        throw UsageError("-n takes a whole number from 1 to " + std::to_string(most_cases) +
                         " here, not '" + std::to_string(*flags.number) + "'");
    }
    const std::vector<ProbeCases> probes = chosen_probes(flags);
    make_output_directory("--recipes", flags.recipes);
    CaseRunner runner(case_options(flags));
    std::size_t diverged = 0;
    std::size_t unclear = 0;
    for (const ProbeCases& one : probes) {
        std::deque<Task> tasks;
        for (const Case& c : one.cases) {
            tasks.emplace_back().recipe = c;
        }
        const std::vector<CaseReport> reports = runner.run(std::move(tasks));
        std::cout << printable_text(one.name + ": " + verdicts(one, reports) +
                                    "; compared: " + compared(reports))
                  << "\n"
                  << std::flush;
        keep_diverging(flags.recipes, one, reports);
        diverged += std::ranges::any_of(reports, has_diverged) ? 1U : 0U;
        unclear += std::ranges::any_of(reports, says_nothing) ? 1U : 0U;
    }
    std::cout << probes.size() << (probes.size() == 1 ? " probe, " : " probes, ") << diverged
              << " with divergences, " << unclear << " without a verdict\n";
    require_output();
    return static_cast<int>(diverged > 0  ? ExitCode::does_not_hold
                            : unclear > 0 ? ExitCode::no_verdict
                                          : ExitCode::holds);
}

}  // namespace

CommandSpec probe_command() {
    return {"probe",
            "runs the hand-written cases of a directory: 0 all agree, 1 some diverge",
            "difffuzz probe probes/ --filter-name 'bench|dd' --subject ./my-qemu-img",
            {"--filter-name", "--seed", "--case", "-n,--number", "--recipes", "--subject",
             "--reference", "--jobs", "--timeout", "--run-as", "--expose", "--memory-limit",
             "--disk-limit", "--no-config"},
            "DIR",
            1,
            1,
            probe};
}

}  // namespace difffuzz

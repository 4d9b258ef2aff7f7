#include "apps/difffuzz/flags.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "core/decimal.hpp"
#include "core/errors.hpp"
#include "core/suggest.hpp"

namespace difffuzz {
namespace {

struct FlagSpec {
    std::string_view name;
    std::string_view help;
    CLI::Option* (*add)(CLI::App& app, const std::string& spelling, Flags& flags,
                        const std::string& help);
};

constexpr std::uint64_t any = UINT64_MAX;

// "--out" of "--out,--log-dir", "--number" of "-n,--number".
std::string long_name(const std::string& spelling) {
    const std::size_t begin = spelling.find("--");
    return spelling.substr(begin, spelling.find(',', begin) - begin);
}

// Binds a flag to a member that is a text or several.
template <auto member>
CLI::Option* text(CLI::App& app, const std::string& spelling, Flags& flags,
                  const std::string& help) {
    return app.add_option(spelling, flags.*member, help)
        ->check([spelling](const std::string& word) {
            if (word.empty()) {
                throw UsageError(long_name(spelling) + " must not be empty");
            }
            return std::string{};
        });
}
// The same for one word behind each time that the flag is given.
template <auto member>
CLI::Option* repeated(CLI::App& app, const std::string& spelling, Flags& flags,
                      const std::string& help) {
    return text<member>(app, spelling, flags, help)->allow_extra_args(false);
}
template <auto member>
CLI::Option* on_off(CLI::App& app, const std::string& spelling, Flags& flags,
                    const std::string& help) {
    return app.add_flag(spelling, flags.*member, help)->disable_flag_override();
}
// Binds a flag to a member that is a number from `low` to `high`.
template <auto member, std::uint64_t low, std::uint64_t high>
CLI::Option* number(CLI::App& app, const std::string& spelling, Flags& flags,
                    const std::string& help) {
    const auto set = [&flags, name = long_name(spelling)](const std::string& word) {
        const auto value = parse_decimal(word);
        if (!value || *value < low || *value > high) {
            throw UsageError(
                name + " takes a whole number" +
                (high == any ? low == 0 ? "" : " from " + std::to_string(low)
                             : " from " + std::to_string(low) + " to " + std::to_string(high)) +
                ", not '" + word.substr(0, 80) + "'");
        }
        using Member = std::remove_reference_t<decltype(flags.*member)>;
        if constexpr (std::is_integral_v<Member>) {
            flags.*member = static_cast<Member>(*value);
        } else {
            flags.*member = static_cast<typename Member::value_type>(*value);
        }
    };
    return app.add_option_function<std::string>(spelling, set, help)->type_name("N");
}

// Seconds, with at most three digits behind the point.
std::optional<std::chrono::milliseconds> parse_seconds(const std::string& word) {
    const std::size_t point = word.find('.');
    const auto whole = parse_decimal(word.substr(0, point));
    std::string part = point == std::string::npos ? "0" : word.substr(point + 1);
    if (!whole || *whole > 1'000'000 || part.empty() || part.size() > 3 ||
        part.find_first_not_of("0123456789") != std::string::npos) {
        return std::nullopt;
    }
    part.resize(3, '0');
    return std::chrono::milliseconds(*whole * 1000 + std::stoul(part));
}

CLI::Option* timeout_flag(CLI::App& app, const std::string& spelling, Flags& flags,
                          const std::string& help) {
    const auto set = [&flags](const std::string& word) {
        const auto time = parse_seconds(word);
        if (!time || *time < std::chrono::milliseconds(100) || *time > std::chrono::hours(1)) {
            throw UsageError("--timeout takes seconds from 0.1 to 3600, not '" +
                             word.substr(0, 80) + "'");
        }
        flags.timeout = *time;
    };
    return app.add_option_function<std::string>(spelling, set, help)->type_name("SECONDS");
}

constexpr std::uint64_t most_iterations = std::uint64_t{1} << 40;
constexpr std::uint64_t most_seconds = std::uint64_t{1} << 30;
constexpr std::uint64_t most_triage_runs = 1'000'000;
constexpr std::uint64_t most_mib = std::uint64_t{1} << 20;

const std::vector<FlagSpec>& flag_table() {
    static const std::vector<FlagSpec> table{
        {"--iterations", "number of cases (default 1000)",
         number<&Flags::iterations, 1, most_iterations>},
        {"--seed",
         "seed of all draws (default: drawn and printed; of selftest and probe: 1; draw needs it)",
         number<&Flags::seed, 0, any>},
        {"--subject", "the tool under test (also DIFFFUZZ_SUBJECT)", text<&Flags::subject>},
        {"--reference", "the qemu-img it is held against (also DIFFFUZZ_REFERENCE)",
         text<&Flags::reference>},
        {"--baseline",
         "an older subject: what it shows, too, is pre-existing, and only regressions make the "
         "exit "
         "code 1",
         text<&Flags::baseline>},
        {"--fixed-meanwhile",
         "with --baseline: run the first N cases with it, and list what it shows and the subject "
         "does not any more",
         number<&Flags::fixed_meanwhile, 1, most_iterations>},
        {"--seen",
         "what earlier campaigns saw: a directory of evidence, or a database that this one is "
         "added "
         "to (repeatable, each behind a --seen)",
         repeated<&Flags::seen>},
        {"--ops", "operations: a,b=3 (only these, with weights) or -c (all but)",
         text<&Flags::operations>},
        {"--damaged", "per cent of the cases that get a damaged image (default 15)",
         number<&Flags::damaged, 0, 100>},
        {"--jobs", "workers at a time (default: processors)", number<&Flags::jobs, 1, 256>},
        {"--timeout", "seconds for one command (default 10)", timeout_flag},
        {"--out,--log-dir",
         "directory of the evidence (default difffuzz-out/SEED); of shrink: a new file FILE for "
         "the record, with its script in FILE.sh; of recipe: a new file",
         text<&Flags::out>},
        {"--resume", "continue the campaign in --out", on_off<&Flags::resume>},
        {"--max-new", "end at the K-th new symptom, in the order of the cases",
         number<&Flags::max_new, 1, any>},
        {"--shard",
         "I/N: run only every N-th case, beginning with the I-th (1-based); auto: as Slurm, GitLab "
         "or Kubernetes number this job",
         text<&Flags::shard>},
        {"--duration", "seconds for the campaign; alone, it replaces --iterations",
         number<&Flags::duration, 1, most_seconds>},
        {"--min-compared", "per cent that must be compared for a verdict (default 50)",
         number<&Flags::min_compared, 0, 100>},
        {"--max-inconclusive", "per cent that may be inconclusive (default 5)",
         number<&Flags::max_inconclusive, 0, 100>},
        {"--triage-runs", "runs to shrink one divergence at most (default 300; 0: as --no-triage)",
         number<&Flags::triage_runs, 0, most_triage_runs>},
        {"--runs", "runs to shrink the case at most (default 300)",
         number<&Flags::triage_runs, 1, most_triage_runs>},
        {"--no-triage", "keep divergences as they were seen: neither confirmed nor shrunk",
         on_off<&Flags::no_triage>},
        {"--determinism",
         "cases that the subject runs twice, to see whether it repeats itself: sample (default, "
         "one "
         "in 16), all, off",
         text<&Flags::determinism>},
        {"--run-as", "user that tools run as when started by root (default nobody)",
         text<&Flags::run_as>},
        {"--subject-source",
         "git repository that the subject was built from: its commit and patch become evidence",
         text<&Flags::subject_source>},
        {"--expose", "further directory that tools may read (repeatable)", text<&Flags::exposed>},
        {"--memory-limit", "MiB of memory for one command (default 2048)",
         number<&Flags::memory_limit_mib, 16, most_mib>},
        {"--disk-limit", "MiB of storage for one workspace (default 512)",
         number<&Flags::disk_limit_mib, 16, most_mib>},
        {"--no-config", "do not read difffuzz.toml", on_off<&Flags::no_config>},
        {"--known",
         "known divergences: steer (default: keep away), enter (only recognise them), off",
         text<&Flags::known_mode>},
        {"--known-dir", "directory of further known divergences (*.toml)",
         text<&Flags::known_directory>},
        {"--plan", "plan.json of a campaign", text<&Flags::plan>},
        {"--case", "only this case", number<&Flags::case_index, 0, any>},
        {"-n,--number",
         "how many cases: draw (default 1), known audit inside each entry (default 8), probe of "
         "each "
         "with open values (default 16)",
         number<&Flags::number, 1, any>},
        {"--pin", "PATH=VALUE: hold a draw at a value (repeatable)", text<&Flags::pins>},
        {"--as", "json (a recipe a line) or shell (the commands)", text<&Flags::format>},
        {"--canonical", "print the record set, one record a line", on_off<&Flags::canonical>},
        {"--rebucket", "the records in buckets of this difffuzz's fingerprints; writes nothing",
         on_off<&Flags::rebucket>},
        {"--html", "write the report as one HTML page to this file (-: standard output)",
         text<&Flags::html>},
        {"--junit", "write it as JUnit's XML to this file", text<&Flags::junit>},
        {"--sarif", "write it as SARIF 2.1.0 to this file", text<&Flags::sarif>},
        {"--markdown", "write it as Markdown to this file", text<&Flags::markdown>},
        {"--json", "print JSON", on_off<&Flags::json>},
        {"--create-issues", "file an issue for each new bucket at the end (see 'difffuzz file')",
         on_off<&Flags::create_issues>},
        {"--tracker", "github, gitlab or gitea (also for Forgejo); default github",
         text<&Flags::tracker>},
        {"--repo", "OWNER/NAME of the repository that gets the issues", text<&Flags::repository>},
        {"--api-url", "base of the tracker's API (default: that of github.com or gitlab.com)",
         text<&Flags::api_url>},
        {"--label", "label of new issues (repeatable; default security-audit)",
         text<&Flags::labels>},
        {"--on-closed", "what a closed issue gets: reopen (default) or new (one that links it)",
         text<&Flags::on_closed>},
        {"--max-issues", "most new issues of a run, and of 24 hours (default 10)",
         number<&Flags::max_issues, 0, 1000>},
        {"--tracker-timeout", "seconds for one answer of the tracker (default 30)",
         number<&Flags::tracker_timeout, 1, 600>},
        {"--dry-run", "print what would be sent, and send nothing", on_off<&Flags::dry_run>},
        {"--bisect",
         "exit for 'git bisect run': 0 gone, 1 reproduces, 125 cannot tell, 129 cannot be cured",
         on_off<&Flags::bisect>},
        {"--across",
         "programs that the case is run with, one after the other, each as the subject; behind "
         "FILE",
         text<&Flags::across>},
        {"--exhibits", "only the case that is kept for each fault", on_off<&Flags::exhibits>},
        {"--list", "list the faults and run nothing", on_off<&Flags::list>},
        {"--without-own", "each fault as if there were no layer for it: which others see it?",
         on_off<&Flags::without_own>},
        {"--recipes", "directory for the case that decided on each fault, or that diverged",
         text<&Flags::recipes>},
        {"--buckets", "a campaign for each fault: does each end as one bucket?",
         on_off<&Flags::buckets>},
        {"--fault",
         "with --buckets: only this fault (repeatable); several joined by commas are "
         "planted at once",
         text<&Flags::faults>},
        {"--recorded-reference",
         "against what the reference did when an entry was recorded, without running one",
         on_off<&Flags::recorded_reference>},
        {"--by", "who promotes the record (else asked for at a terminal)", text<&Flags::by>},
        {"--why", "one sentence about what the entry shows", text<&Flags::why>},
        {"--filter-name",
         "only probes with a name in which this extended regular expression is found",
         text<&Flags::filter_name>},
    };
    return table;
}

const FlagSpec& flag_named(std::string_view name) {
    const auto& table = flag_table();
    return *std::find_if(table.begin(), table.end(),
                         [&](const FlagSpec& flag) { return flag.name == name; });
}

bool spells(const FlagSpec& flag, std::string_view word) {
    std::string_view names = flag.name;
    while (!names.empty()) {
        const std::size_t comma = names.find(',');
        if (names.substr(0, comma) == word) {
            return true;
        }
        names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
    }
    return false;
}

std::vector<std::string> spellings(const CommandSpec& command) {
    std::vector<std::string> result{"--help"};
    for (const std::string_view name : command.flags) {
        result.push_back(long_name(std::string(name)));
    }
    return result;
}

// One sentence about a word that the command does not take.
std::string about_extra(const std::string& extra, const CommandSpec& command) {
    const std::string word = extra.substr(0, extra.find('='));
    std::string sentence = "'" + word.substr(0, 80) + "' is not ";
    if (!word.starts_with('-')) {
        return sentence + "expected by 'difffuzz " + std::string(command.name) +
               "'; see 'difffuzz " + std::string(command.name) + " --help'";
    }
    sentence += "a flag of 'difffuzz " + std::string(command.name) + "'";
    std::string owners;
    for (const CommandSpec& other : commands()) {
        for (const std::string_view name : other.flags) {
            if (spells(flag_named(name), word)) {
                owners += (owners.empty() ? " (it is one of " : ", ") + std::string(other.name);
            }
        }
    }
    if (!owners.empty()) {
        return sentence + owners + ")";
    }
    return sentence + suggestion(word, spellings(command)) + "; see 'difffuzz " +
           std::string(command.name) + " --help'";
}

// One sentence about a word that has too little or too much beside it. CLI11's own begin with the
// name of the option, about a value that a flag does not take without its dashes.
std::string about_parse_error(const CLI::ParseError& error, const CLI::App& app,
                              const CommandSpec& command) {
    const std::string text = error.what();
    const std::string words = "'difffuzz " + std::string(command.name) + "'";
    for (const CLI::Option* option : app.get_options()) {
        const std::string name = option->get_name();
        const bool flag = name.starts_with('-');
        if (flag && text.starts_with(name.substr(name.find_first_not_of('-')) + " ")) {
            return name + " takes no value";
        }
        if (!text.starts_with(name + ":") && !text.starts_with(name + " ")) {
            continue;
        }
        const std::size_t given = option->results().size();
        if (given == 0) {
            return flag ? name + " needs a value" : words + " needs " + name;
        }
        return flag ? name + " is given " + std::to_string(given) + " times; give it once"
                    : words + " takes only " + std::to_string(command.max_positional) + " " + name +
                          ", not " + std::to_string(given);
    }
    return words + " cannot read its flags: " + text.substr(0, text.find('\n'));
}

void add_command(CLI::App& app, const CommandSpec& command, Flags& flags) {
    for (const std::string_view name : command.flags) {
        const FlagSpec& flag = flag_named(name);
        flag.add(app, std::string(flag.name), flags, std::string(flag.help));
    }
    if (!command.positional_name.empty()) {
        app.add_option(std::string(command.positional_name), flags.positional)
            ->expected(static_cast<int>(command.min_positional),
                       static_cast<int>(command.max_positional))
            ->required(command.min_positional > 0);
    }
    app.footer("\nexample:\n  " + std::string(command.example));
}

void print_overview() {
    std::cout << "difffuzz: differential fuzzing of disk-image tools against qemu-img\n\n"
                 "usage: difffuzz [COMMAND] [FLAGS]      ('run' when no command is given)\n\n";
    for (const CommandSpec& command : commands()) {
        std::cout << "  " << command.name << std::string(10 - command.name.size(), ' ')
                  << command.summary << "\n";
    }
    std::cout << "\n'difffuzz COMMAND --help' shows the flags of a command.\n\nexample:\n"
                 "  difffuzz --iterations 2000 --seed 42 --subject ./my-qemu-img\n";
}

// CLI11 would take the next word for the value of "--out=".
void require_values(const std::vector<std::string>& words, const CommandSpec& command) {
    for (const std::string& word : words) {
        if (word.starts_with("--") && word.find('=') == word.size() - 1) {
            const std::string_view name = std::string_view(word).substr(0, word.size() - 1);
            if (std::ranges::any_of(command.flags, [&](std::string_view flag) {
                    return spells(flag_named(flag), name);
                })) {
                throw UsageError(std::string(name) + " must not be empty");
            }
        }
    }
}

const CommandSpec& command_named(const std::string& name) {
    const auto& all = commands();
    const auto command = std::ranges::find(all, name, &CommandSpec::name);
    if (command == all.end()) {
        std::vector<std::string> names;
        for (const CommandSpec& spec : all) {
            names.emplace_back(spec.name);
        }
        throw UsageError("there is no command '" + name.substr(0, 80) + "'" +
                         suggestion(name, names) + "; see 'difffuzz --help'");
    }
    return *command;
}

}  // namespace

int dispatch(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = arguments;
    const bool help =
        !words.empty() && (words[0] == "--help" || words[0] == "-h" || words[0] == "help");
    if (help && words.size() == 1) {
        print_overview();
        return 0;
    }
    if (help) {
        // "help run" is "run --help".
        if (words.size() > 2) {
            throw UsageError("'difffuzz " + words[0] + "' takes one command");
        }
        words = {command_named(words[1]).name.data(), "--help"};
    }
    if (!words.empty() && words[0] == "--version") {
        std::cout << "difffuzz " << DIFFFUZZ_VERSION << "\n";
        return 0;
    }
    std::string name = "run";
    if (!words.empty() && !words[0].starts_with('-')) {
        name = words[0];
        words.erase(words.begin());
    }
    const CommandSpec* const command = &command_named(name);
    require_values(words, *command);
    Flags flags;
    flags.words = arguments;
    CLI::App app(std::string(command->summary), "difffuzz " + std::string(command->name));
    app.allow_extras(false);
    add_command(app, *command, flags);
    try {
        std::reverse(words.begin(), words.end());  // CLI11 takes a vector from its end
        app.parse(words);
    } catch (const CLI::CallForHelp&) {
        std::cout << app.help();
        return 0;
    } catch (const CLI::ExtrasError&) {
        throw UsageError(
            about_extra(app.remaining().empty() ? "" : app.remaining().front(), *command));
    } catch (const CLI::ParseError& error) {
        throw UsageError(about_parse_error(error, app, *command) + "; see 'difffuzz " +
                         std::string(command->name) + " --help'");
    }
    return command->run(flags);
}

}  // namespace difffuzz

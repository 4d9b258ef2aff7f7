#include "apps/difffuzz/flags.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

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

// Binds a flag with a value to a member.
template <auto member>
CLI::Option* value(CLI::App& app, const std::string& spelling, Flags& flags,
                   const std::string& help) {
    return app.add_option(spelling, flags.*member, help);
}
template <auto member>
CLI::Option* on_off(CLI::App& app, const std::string& spelling, Flags& flags,
                    const std::string& help) {
    return app.add_flag(spelling, flags.*member, help);
}
template <auto member, unsigned low, unsigned high>
CLI::Option* bounded(CLI::App& app, const std::string& spelling, Flags& flags,
                     const std::string& help) {
    return app.add_option(spelling, flags.*member, help)->check(CLI::Range(low, high));
}

CLI::Option* timeout_flag(CLI::App& app, const std::string& spelling, Flags& flags,
                          const std::string& help) {
    return app.add_option(spelling, flags.timeout, help)->check(CLI::Range(0.1, 3600.0));
}

const std::vector<FlagSpec>& flag_table() {
    static const std::vector<FlagSpec> table{
        {"--iterations", "number of cases (default 1000)", value<&Flags::iterations>},
        {"--seed", "seed of all draws (default: drawn and printed)", value<&Flags::seed>},
        {"--subject", "the tool under test (also DIFFFUZZ_SUBJECT)", value<&Flags::subject>},
        {"--reference", "the qemu-img it is held against (also DIFFFUZZ_REFERENCE)",
         value<&Flags::reference>},
        {"--ops", "operations: a,b=3 (only these, with weights) or -c (all but)",
         value<&Flags::operations>},
        {"--damaged", "per cent of the cases that get a damaged image (default 15)",
         bounded<&Flags::damaged, 0, 100>},
        {"--jobs", "workers at a time (default: processors)", bounded<&Flags::jobs, 1, 256>},
        {"--timeout", "seconds for one command (default 10)", timeout_flag},
        {"--out,--log-dir", "directory of the evidence (default difffuzz-out/SEED)",
         value<&Flags::out>},
        {"--resume", "continue the campaign in --out", on_off<&Flags::resume>},
        {"--max-new", "end at the K-th new symptom, in the order of the cases",
         value<&Flags::max_new>},
        {"--shard", "I/N: run only every N-th case, beginning with the I-th (1-based)",
         value<&Flags::shard>},
        {"--duration", "seconds for the campaign; alone, it replaces --iterations",
         value<&Flags::duration>},
        {"--min-compared", "per cent that must be compared for a verdict (default 50)",
         bounded<&Flags::min_compared, 0, 100>},
        {"--max-inconclusive", "per cent that may be inconclusive (default 5)",
         bounded<&Flags::max_inconclusive, 0, 100>},
        {"--run-as", "user that tools run as when started by root (default nobody)",
         value<&Flags::run_as>},
        {"--expose", "further directory that tools may read (repeatable)", value<&Flags::exposed>},
        {"--memory-limit", "MiB of memory for one command (default 2048)",
         value<&Flags::memory_limit_mib>},
        {"--disk-limit", "MiB of storage for one workspace (default 512)",
         value<&Flags::disk_limit_mib>},
        {"--no-config", "do not read difffuzz.toml", on_off<&Flags::no_config>},
        {"--plan", "plan.json of a campaign", value<&Flags::plan>},
        {"--case", "draw only this case", value<&Flags::case_index>},
        {"-n,--number", "how many cases to draw (default 1)", value<&Flags::number>},
        {"--pin", "PATH=VALUE: hold a draw at a value (repeatable)", value<&Flags::pins>},
        {"--as", "json (a recipe a line) or shell (the commands)", value<&Flags::format>},
        {"--canonical", "print the record set, one record a line", on_off<&Flags::canonical>},
        {"--json", "print JSON", on_off<&Flags::json>},
        {"--bisect",
         "exit for 'git bisect run': 0 gone, 1 reproduces, 125 cannot tell, 129 cannot be cured",
         on_off<&Flags::bisect>},
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

std::vector<std::string> spellings() {
    std::vector<std::string> result;
    for (const FlagSpec& flag : flag_table()) {
        result.emplace_back(flag.name.substr(0, flag.name.find(',')));
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
    return sentence + suggestion(word, spellings()) + "; see 'difffuzz " +
           std::string(command.name) + " --help'";
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

}  // namespace

int dispatch(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = arguments;
    if (!words.empty() && (words[0] == "--help" || words[0] == "-h" || words[0] == "help")) {
        print_overview();
        return 0;
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
    const auto& all = commands();
    const auto command = std::find_if(all.begin(), all.end(),
                                      [&](const CommandSpec& spec) { return spec.name == name; });
    if (command == all.end()) {
        std::vector<std::string> names;
        for (const CommandSpec& spec : all) {
            names.emplace_back(spec.name);
        }
        throw UsageError("there is no command '" + name.substr(0, 80) + "'" +
                         suggestion(name, names) + "; see 'difffuzz --help'");
    }
    Flags flags;
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
        std::string reason = error.what();
        std::replace(reason.begin(), reason.end(), '\n', ' ');
        throw UsageError(reason + "; see 'difffuzz " + std::string(command->name) + " --help'");
    }
    return command->run(flags);
}

}  // namespace difffuzz

// The command line as data: every flag is declared once, every command lists the ones it takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace difffuzz {

// What the flags set. Each member belongs to one row of the table in flags.cpp.
struct Flags {
    std::optional<std::uint64_t> iterations;
    std::optional<std::uint64_t> seed;
    std::optional<std::uint64_t> case_index;
    std::optional<std::uint64_t> number;
    std::optional<std::uint64_t> max_new;
    std::optional<std::uint64_t> duration;
    std::string operations;
    std::string subject;
    std::string reference;
    std::string baseline;
    std::string out;
    std::string plan;
    std::string shard;
    std::string run_as;
    std::string subject_source;
    std::string format;
    std::string known_mode;   // empty: steer
    std::string determinism;  // empty: sample
    std::string known_directory;
    std::string executable;
    std::string recipes;
    std::string filter_name;
    std::string by;
    std::string why;
    std::vector<std::string> faults;
    std::string tracker = "github";
    std::string repository;
    std::string api_url;
    std::string on_closed = "reopen";
    std::string html;
    std::string junit;
    std::string sarif;
    std::string markdown;
    std::vector<std::string> words;  // the whole command line, as it was given
    std::vector<std::string> exposed;
    std::vector<std::string> pins;
    std::vector<std::string> positional;
    std::vector<std::string> labels;
    std::vector<std::string> across;
    std::vector<std::string> seen;
    std::uint64_t fixed_meanwhile = 0;  // cases; 0: not asked for
    unsigned jobs = 0;                  // 0: as many as there are processors
    std::chrono::milliseconds timeout{10'000};
    unsigned min_compared = 50;
    unsigned max_inconclusive = 5;
    std::optional<unsigned> damaged;
    std::optional<std::uint64_t> triage_runs;
    std::uint64_t memory_limit_mib = 2048;
    std::uint64_t disk_limit_mib = 512;
    bool resume = false;
    bool no_config = false;
    bool canonical = false;
    bool rebucket = false;
    bool json = false;
    bool bisect = false;
    bool exhibits = false;
    bool without_own = false;
    bool list = false;
    bool buckets = false;
    bool recorded_reference = false;
    bool no_triage = false;
    std::uint64_t max_issues = 10;
    std::uint64_t tracker_timeout = 30;  // seconds
    bool create_issues = false;
    bool dry_run = false;
};

struct CommandSpec {
    std::string_view name;
    std::string_view summary;
    std::string_view example;  // ends the help
    std::vector<std::string_view> flags;
    // Positional arguments: their name in the help, least and most; "" for none.
    std::string_view positional_name;
    std::size_t min_positional = 0;
    std::size_t max_positional = 0;
    // Returns the exit code; throws UsageError or EnvironmentError.
    std::function<int(const Flags&)> run;
};

// One file each; the table in commands.cpp lists them.
CommandSpec run_command();
CommandSpec draw_command();
CommandSpec repro_command();
CommandSpec shrink_command();
CommandSpec report_command();
CommandSpec ops_command();
CommandSpec known_command();
CommandSpec selftest_command();
CommandSpec file_command();
CommandSpec merge_command();
CommandSpec evidence_command();
CommandSpec probe_command();
CommandSpec recipe_command();
CommandSpec replay_command();
CommandSpec promote_command();

const std::vector<CommandSpec>& commands();

// Parses and runs. argv as main() got it. Returns the exit code.
int dispatch(const std::vector<std::string>& arguments);

}  // namespace difffuzz

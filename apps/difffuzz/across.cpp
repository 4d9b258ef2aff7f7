#include "apps/difffuzz/across.hpp"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/difffuzz/input.hpp"
#include "apps/difffuzz/reproducing.hpp"
#include "apps/difffuzz/tools.hpp"
#include "core/errors.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_shown = 400;

// What one program did.
struct Row {
    std::string program;
    std::string version;
    std::string outcome;  // class of its first command that did not succeed, else "succeeded"
    std::string found;    // "same", "another", "agrees", "flaky", "cannot tell"
    std::string type;     // of what diverged
    std::string reason;   // why it cannot be told
    bool drifted = false;

    bool answers() const { return found != "flaky" && found != "cannot tell"; }
    bool like(const Row& other) const {
        return outcome == other.outcome && found == other.found && type == other.type;
    }
};

void judge(const ParsedRecord& input, const std::vector<CaseReport>& reports, Row& row) {
    const CaseReport& last = reports.back();
    row.outcome = last.subject_end ? last.subject_end->outcome : "none";
    row.type = last.type;
    row.drifted = !drifted_image(input, last).empty();
    const RunCounts counts = count_runs(input, reports);
    row.found = row.drifted                      ? "cannot tell"
                : counts.same == reports.size()  ? "same"
                : counts.gone == reports.size()  ? "agrees"
                : counts.other == reports.size() ? "another"
                : counts.unclear > 0             ? "cannot tell"
                                                 : "flaky";
    if (row.drifted) {
        row.reason = "input images are not what they were when the record was made";
    } else if (row.found == "cannot tell") {
        row.reason =
            std::string(to_string(last.terminal)) + (last.reason.empty() ? "" : ", " + last.reason);
    }
}

Row row_of(const ParsedRecord& input, const Flags& flags, const std::string& program) {
    Flags one = flags;
    one.subject = program;
    Row row;
    row.program = shown_text(program, max_shown);
    try {
        Reproducer reproducer(one);
        row.version = shown_text(reproducer.subject_version(), max_shown);
        judge(input, reproducer.run(input), row);
    } catch (const EnvironmentError& error) {
        row.outcome = "none";
        row.found = "cannot tell";
        row.reason = shown_text(error.what(), max_shown);
    }
    return row;
}

// Index of the first that does not do what the one before it did; only those that gave an answer
// count. Nothing where all do the same.
std::optional<std::size_t> first_change(const std::vector<Row>& rows) {
    const Row* before = nullptr;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].answers()) {
            continue;
        }
        if (before != nullptr && !rows[i].like(*before)) {
            return i;
        }
        before = &rows[i];
    }
    return std::nullopt;
}

std::string in_words(const Row& row) {
    return row.found == "same"      ? "the symptom: " + row.type
           : row.found == "another" ? "another symptom: " + row.type
           : row.found == "agrees"  ? "agrees with the reference"
           : row.found == "flaky"   ? "flaky: the runs differ"
                                    : "cannot tell: " + row.reason;
}

void print_table(const std::vector<Row>& rows, const std::optional<std::size_t>& change) {
    std::size_t widest = 0;
    for (const Row& row : rows) {
        widest = std::max(widest, row.program.size());
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::cout << printable_text(fmt::format("{} {:<{}}  {:<11} {}", change == i ? ">" : " ",
                                                rows[i].program, widest, rows[i].outcome,
                                                in_words(rows[i])))
                  << "\n";
        if (!rows[i].version.empty()) {
            std::cout << printable_text("    " + rows[i].version) << "\n";
        }
    }
    std::cout << (change ? printable_text("the first that differs from the one before: " +
                                          rows[*change].program)
                         : "none differs from the one before")
              << "\n";
}

nlohmann::json table_json(const std::vector<Row>& rows, const std::optional<std::size_t>& change) {
    nlohmann::json programs = nlohmann::json::array();
    for (const Row& row : rows) {
        programs.push_back({{"program", row.program},
                            {"version", row.version},
                            {"outcome", row.outcome},
                            {"found", row.found},
                            {"type", row.type},
                            {"reason", row.reason}});
    }
    return {{"schema", "difffuzz.across/1"},
            {"programs", std::move(programs)},
            {"first_change", change ? nlohmann::json(*change) : nlohmann::json(nullptr)}};
}

}  // namespace

int repro_across(const ParsedRecord& input, const Flags& flags) {
    for (const std::string& program : flags.across) {
        Flags one = flags;
        one.subject = program;
        find_tools(one);
    }
    std::vector<Row> rows;
    for (const std::string& program : flags.across) {
        rows.push_back(row_of(input, flags, program));
    }
    const auto change = first_change(rows);
    if (flags.json) {
        std::cout << table_json(rows, change).dump(2, ' ', true) << "\n";
    } else {
        std::cout << shown_commands(input.recipe);
        print_table(rows, change);
    }
    const bool drifted = std::ranges::any_of(rows, &Row::drifted);
    const bool answered = std::ranges::all_of(rows, &Row::answers);
    return static_cast<int>(drifted    ? ExitCode::inputs_drifted
                            : answered ? ExitCode::holds
                                       : ExitCode::no_verdict);
}

}  // namespace difffuzz

// difffuzz repro: runs the case of a record, a recipe or an issue on the tools at hand.
#include <iostream>
#include <set>

#include "apps/difffuzz/across.hpp"
#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/input.hpp"
#include "apps/difffuzz/output.hpp"
#include "apps/difffuzz/reproducing.hpp"
#include "apps/difffuzz/tools.hpp"
#include "campaign/evidence/record.hpp"
#include "core/errors.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

// Exit codes that 'git bisect run' knows.
constexpr int bisect_gone = 0;
constexpr int bisect_reproduces = 1;
constexpr int bisect_cannot_tell = 125;
constexpr int bisect_cannot_be_cured = 129;

// A field of a symptom on one line.
std::string shown_field(const nlohmann::json& symptom, const std::string& key) {
    constexpr std::size_t longest = 400;
    if (!symptom.contains(key)) {
        return "(none)";
    }
    const nlohmann::json& value = symptom.at(key);
    return shown_text(value.is_string() ? value.get<std::string>() : value.dump(), longest);
}

void print_symptom(const nlohmann::json& symptom) {
    for (const char* key : {"direction", "field", "subject_class", "reference_class",
                            "subject_message", "reference_message"}) {
        if (const std::string value = shown_field(symptom, key); !value.empty()) {
            print_line(std::string("  ") + key + ": " + value);
        }
    }
}

// Expected and seen, each field of them; a star marks those that differ.
void print_both(const nlohmann::json& expected, const nlohmann::json& seen) {
    std::set<std::string> keys;
    for (const nlohmann::json* symptom : {&expected, &seen}) {
        for (const auto& item : symptom->items()) {
            keys.insert(item.key());
        }
    }
    std::string differing;
    for (const std::string& key : keys) {
        const std::string before = shown_field(expected, key);
        const std::string now = shown_field(seen, key);
        if (before == now) {
            print_line("    " + key + ": " + before);
            continue;
        }
        differing += (differing.empty() ? "" : ", ") + key;
        print_line("  * " + key + ": expected " + "'" + before + "'" + ", seen " + "'" + now + "'");
    }
    print_line("  what differs: " + differing);
}

int conclude(const ParsedRecord& input, const std::vector<CaseReport>& reports, bool bisect) {
    const RunCounts counts = count_runs(input, reports);
    const CaseReport& last = reports.back();
    if (const std::string image = drifted_image(input, last); !image.empty()) {
        print_line("inputs drifted: image '" + shown_text(image, 64) +
                   "' is not what it was when the record was made");
        return bisect ? bisect_cannot_tell : static_cast<int>(ExitCode::inputs_drifted);
    }
    if (counts.same == reports.size()) {
        print_line("reproduces: " + last.type);
        print_symptom(last.symptom);
        return bisect ? bisect_reproduces : static_cast<int>(ExitCode::holds);
    }
    if (counts.gone == reports.size()) {
        std::cout << "gone: both tools agree (" << to_string(last.terminal) << ")\n";
        return bisect ? bisect_gone : static_cast<int>(ExitCode::does_not_hold);
    }
    if (counts.unclear > 0) {
        print_line("no verdict: " + std::string(to_string(last.terminal)) +
                   (last.reason.empty() ? "" : ", " + last.reason));
    } else if (counts.other == reports.size()) {
        const std::string expected = record_type(*input.symptom);
        print_line("another symptom: " + last.type +
                   (last.type == expected ? "" : " instead of " + expected));
        print_both(to_json(*input.symptom), last.symptom);
        return bisect ? bisect_cannot_tell : static_cast<int>(ExitCode::other_symptom);
    } else {
        print_line("flaky: " + std::to_string(counts.same) + " of " +
                   std::to_string(reports.size()) + " runs show the symptom");
    }
    return bisect ? bisect_cannot_tell : static_cast<int>(ExitCode::no_verdict);
}

int repro_on(const ParsedRecord& input, const Flags& flags) {
    Reproducer reproducer(flags);
    std::cout << shown_commands(input.recipe);
    const std::vector<CaseReport> reports = reproducer.run(input);
    return conclude(input, reports, flags.bisect);
}

int repro(const Flags& flags) {
    if (flags.across.empty() && flags.json) {
        throw UsageError("--json is the machine form of --across; give it programs with --across");
    }
    if (!flags.across.empty()) {
        if (flags.bisect) {
            throw UsageError(
                "--across and --bisect do not go together: git bisect asks about one build");
        }
        if (!flags.subject.empty()) {
            throw UsageError("--across names the subjects itself; drop --subject");
        }
        return repro_across(read_record_or_recipe(flags.positional.at(0)), flags);
    }
    if (!flags.bisect) {
        return repro_on(read_record_or_recipe(flags.positional.at(0)), flags);
    }
    try {
        const ParsedRecord input = read_record_or_recipe(flags.positional.at(0));
        find_reference(flags);  // no build of the subject brings it back
        try {
            const int code = repro_on(input, flags);
            require_output();
            return code;
        } catch (const EnvironmentError& error) {
            std::cerr << "difffuzz: " << printable_text(error.what()) << "\n";
            return bisect_cannot_tell;
        }
    } catch (const std::runtime_error& error) {
        std::cerr << "difffuzz: " << printable_text(error.what()) << "\n";
        return bisect_cannot_be_cured;
    }
}

}  // namespace

CommandSpec repro_command() {
    return {"repro",
            "runs the case of a record or recipe again: 0 same symptom, 1 gone, 5 another one",
            "difffuzz repro difffuzz-out/42/records/*/7/record.json --subject ./my-qemu-img",
            {"--subject", "--reference", "--timeout", "--run-as", "--expose", "--memory-limit",
             "--disk-limit", "--no-config", "--bisect", "--across", "--json"},
            "FILE",
            1,
            1,
            repro};
}

}  // namespace difffuzz

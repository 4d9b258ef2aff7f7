// difffuzz recipe new: a probe to begin with.
#include <iostream>

#include <nlohmann/json.hpp>

#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/output.hpp"
#include "apps/difffuzz/output_file.hpp"
#include "campaign/probe.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "core/suggest.hpp"
#include "core/tools/dialect.hpp"
#include "ops/operation.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

// Cases that are looked through for the plainest one.
constexpr std::uint64_t candidates = 200;
constexpr std::size_t most_words = 40;

const Operation& operation_named(const std::string& name) {
    const Operation* operation = find_operation(name);
    if (operation == nullptr) {
        std::vector<std::string> names;
        for (const Operation* known : operations()) {
            names.emplace_back(known->name);
        }
        throw UsageError("there is no operation '" + shown_text(name, 80) + "'" +
                         suggestion(name, names) + "; 'difffuzz ops' lists them");
    }
    return *operation;
}

// A valid case of the operation with as little in it as any that was looked at.
Case plainest_case(const Operation& operation) {
    Plan plan = default_plan();
    plan.operations = {{std::string(operation.name), 1}};
    plan.refused_percent = 0;
    plan.damaged_percent = 0;
    std::optional<Case> plainest;
    std::size_t least = SIZE_MAX;
    for (std::uint64_t index = 0; index < candidates; ++index) {
        Case c = draw_case(plan, 0, index, 0);
        const std::size_t size = to_json(c).dump().size();
        if (intent_name(c) == "valid" && size < least) {
            least = size;
            plainest = std::move(c);
        }
    }
    if (!plainest) {
        throw UsageError("'" + std::string(operation.name) +
                         "' has no valid cases; begin with 'difffuzz draw --ops " +
                         std::string(operation.name) + " --seed 1'");
    }
    return *std::move(plainest);
}

std::string option_line(const OptionSpec& spec) {
    std::string line = "  " + (spec.option.empty() ? "(positional)" : std::string(spec.option));
    for (std::size_t w = 0; w < spec.words.size() && w < most_words; ++w) {
        line += (w == 0 ? ": " : " ") + std::string(spec.words[w]);
    }
    return line;
}

// What stands beside the case for whoever goes on writing.
json comment_on(const Operation& operation, const Case& c) {
    json lines = json::array();
    lines.push_back("A valid case of '" + std::string(operation.name) +
                    "': " + std::string(operation.summary));
    for (const Step& step : c.steps) {
        std::string command = std::string(program_of(step));
        for (const std::string& word : render_step(c, step)) {
            command += " " + word;
        }
        lines.push_back(shown_text("  " + command, 1000));
    }
    lines.push_back("Options (all else: difffuzz ops " + std::string(operation.name) + "):");
    for (const OptionSpec& spec : operation.picker->options) {
        if (spec.max_count != 0) {
            lines.push_back(option_line(spec));
        }
    }
    lines.push_back(
        "A value that is left open: {\"draw\": \"NAME\"} in the recipe, and in \"open\" "
        "\"NAME\": {\"from\": 0, \"to\": 65536, \"multiple_of\": 512} or {\"of\": [\"raw\", "
        "\"qcow2\"]}.");
    return lines;
}

int recipe(const Flags& flags) {
    if (flags.positional.at(0) != "new") {
        throw UsageError("'difffuzz recipe' takes new and an operation, not '" +
                         shown_text(flags.positional.at(0), 80) + "'");
    }
    const Operation& operation = operation_named(flags.positional.at(1));
    std::optional<OutputFile> file;
    if (!flags.out.empty()) {
        file = new_output_file("--out", flags.out);
    }
    const Case c = plainest_case(operation);
    // What people read first comes first.
    nlohmann::ordered_json probe;
    probe["schema"] = probe_schema;
    probe["comment"] = comment_on(operation, c);
    probe["open"] = json::object();
    probe["recipe"] = to_json(c);
    const std::string text = probe.dump(2) + "\n";
    if (file) {
        write_output(*file, text);
    } else {
        std::cout << text;
        require_output();
    }
    return static_cast<int>(ExitCode::holds);
}

}  // namespace

CommandSpec recipe_command() {
    return {"recipe",
            "writes a probe to begin with",
            "difffuzz recipe new bench --out probes/bench.json",
            {"--out,--log-dir"},
            "new OPERATION",
            2,
            2,
            recipe};
}

}  // namespace difffuzz

// difffuzz ops: the operations there are, and what one of them can draw.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/difffuzz/flags.hpp"
#include "core/errors.hpp"
#include "core/suggest.hpp"
#include "ops/operation.hpp"
#include "ops/reach.hpp"
#include "pickers/common_options.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/step_kind.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

std::string_view kind_name(ValueKind kind) {
    switch (kind) {
        case ValueKind::none:
            return "flag";
        case ValueKind::size:
            return "size";
        case ValueKind::number:
            return "number";
        case ValueKind::word:
            return "word";
        case ValueKind::image:
            return "image";
        case ValueKind::options:
            return "creation options";
        case ValueKind::any:
            return "any";
    }
    return "any";
}

json option_json(const OptionSpec& spec) {
    json words = json::array();
    for (const std::string_view word : spec.words) {
        words.push_back(word);
    }
    return {{"option", spec.option},
            {"kind", kind_name(spec.kind)},
            {"words", words},
            {"least", spec.min_count},
            {"most", spec.max_count}};
}

// Options that may stand; those with a count of 0 are only there to be refused.
json options_json(std::span<const OptionSpec> options) {
    json list = json::array();
    for (const OptionSpec& spec : options) {
        if (spec.max_count != 0) {
            list.push_back(option_json(spec));
        }
    }
    return list;
}

json brief(const Operation& operation) {
    return {{"name", operation.name}, {"summary", operation.summary}, {"weight", operation.weight}};
}

bool is_drawn_for_all(const Picker& picker, std::string_view option) {
    const std::vector<std::string_view> common = common_options(picker.command);
    return std::ranges::find(common, option) != common.end();
}

std::string joined(const json& words) {
    std::string text;
    for (const json& word : words) {
        text += " " + word.get<std::string>();
    }
    return text;
}

json full(const Operation& operation) {
    json result = brief(operation);
    const Picker& picker = *operation.picker;
    result["options"] = options_json(picker.options);
    for (const StepKind* kind : picker.kinds) {
        if (kind->operation == operation.name && picker.kinds.size() > 1 &&
            kind->options.data() == picker.options.data()) {
            continue;  // listed above
        }
        result["steps"].push_back({{"operation", kind->operation},
                                   {"command", kind->command},
                                   {"actor", kind->actor == Actor::tool ? "tool" : "neutral"},
                                   {"options", options_json(kind->options)}});
    }
    for (const OptionSpec& spec : picker.options) {
        if (spec.kind == ValueKind::options) {
            for (const CreationOption& option : known_creation_options()) {
                result["creation_options"].push_back({{"format", option.format},
                                                      {"name", option.name},
                                                      {"kind", kind_name(option.kind)}});
            }
        }
    }
    for (const Rule& rule : picker.rules) {
        result["rules"].push_back(
            {{"name", rule.name}, {"refused", rule.enforced}, {"why", rule.why}});
    }
    for (const LeftOut& out : picker.left_out) {
        if (is_drawn_for_all(picker, out.option)) {
            continue;
        }
        result["left_out"].push_back({{"option", out.option}, {"reason", out.reason}});
    }
    Plan plan = default_plan();
    plan.operations = {{std::string(operation.name), 1}};
    const Reach& reach = reach_of(plan);
    for (const auto& [feature, format] : reach.operations().front().features) {
        result["features"][feature].push_back(format);
    }
    result["formats"] = reach.operations().front().formats;
    result["pairs"] = reach.pairs().size();
    result["common_options"] = common_options(picker.command);
    for (const LayerUse& use : operation.layers) {
        result["layers"].push_back(use.name.empty() ? to_string(use.id) : use.name);
    }
    return result;
}

void print_options(const json& options, const char* indent) {
    for (const json& option : options) {
        std::string line = option.at("option").get<std::string>();
        line = (line.empty() ? "(positional)" : line) + "  " + option.at("kind").get<std::string>();
        for (const json& word : option.at("words")) {
            line += " " + word.get<std::string>();
        }
        if (option.at("most") != 1) {
            line += "  (up to " + std::to_string(option.at("most").get<unsigned>()) + " times)";
        }
        std::cout << indent << line << "\n";
    }
}

void print(const json& operation) {
    std::cout << operation.at("name").get<std::string>() << ": "
              << operation.at("summary").get<std::string>() << "\n\noptions:\n";
    print_options(operation.at("options"), "  ");
    for (const json& step : operation.value("steps", json::array())) {
        std::cout << "\nsteps of " << step.at("operation").get<std::string>() << " "
                  << step.at("command").get<std::string>() << " ("
                  << (step.at("actor") == "tool" ? "each tool its own" : "the same for both")
                  << "):\n";
        print_options(step.at("options"), "  ");
    }
    if (operation.contains("creation_options")) {
        std::cout << "\ncreation options (-o):\n";
        for (const json& option : operation.at("creation_options")) {
            std::cout << "  " << option.at("format").get<std::string>() << " "
                      << option.at("name").get<std::string>() << "\n";
        }
    }
    std::cout << "\noptions that most commands take:" << joined(operation.at("common_options"))
              << "\nformats:" << joined(operation.at("formats")) << "\nfeatures of images:\n";
    const json features = operation.value("features", json::object());
    for (const auto& feature : features.items()) {
        std::cout << "  " << feature.key() << ":" << joined(feature.value()) << "\n";
    }
    std::cout << "pairs of these that cases are steered to: " << operation.at("pairs") << "\n";
    std::cout << "\nrules (+ drawn as refused cases, - bound of what is drawn):\n";
    for (const json& rule : operation.value("rules", json::array())) {
        std::cout << "  " << (rule.at("refused").get<bool>() ? "+ " : "- ")
                  << rule.at("name").get<std::string>() << ": " << rule.at("why").get<std::string>()
                  << "\n";
    }
    if (operation.contains("left_out")) {
        std::cout << "\nnot drawn:\n";
        for (const json& out : operation.at("left_out")) {
            std::cout << "  " << out.at("option").get<std::string>() << ": "
                      << out.at("reason").get<std::string>() << "\n";
        }
    }
    std::cout << "\nlayers:" << joined(operation.at("layers")) << "\n";
}

const Operation& named(const std::string& name) {
    const Operation* operation = find_operation(name);
    if (operation == nullptr) {
        std::vector<std::string> names;
        for (const Operation* known : operations()) {
            names.emplace_back(known->name);
        }
        throw UsageError("there is no operation '" + name + "'" + suggestion(name, names) +
                         "; 'difffuzz ops' lists them");
    }
    return *operation;
}

int ops(const Flags& flags) {
    if (!flags.positional.empty()) {
        const json operation = full(named(flags.positional.front()));
        if (flags.json) {
            std::cout << operation.dump(2) << "\n";
        } else {
            print(operation);
        }
        return static_cast<int>(ExitCode::holds);
    }
    json list = json::array();
    for (const Operation* operation : operations()) {
        list.push_back(brief(*operation));
        if (!flags.json) {
            std::cout << fmt::format("{:<20} {:>3}  {}\n", operation->name, operation->weight,
                                     operation->summary);
        }
    }
    if (flags.json) {
        std::cout << list.dump(2) << "\n";
    }
    return static_cast<int>(ExitCode::holds);
}

}  // namespace

CommandSpec ops_command() {
    return {"ops",
            "lists the operations and their weights, or what one of them can draw",
            "difffuzz ops convert",
            {"--json"},
            "NAME",
            0,
            1,
            ops};
}

}  // namespace difffuzz

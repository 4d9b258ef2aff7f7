// difffuzz draw: prints cases without touching any tool.
#include <iostream>

#include <nlohmann/json.hpp>

#include "apps/difffuzz/flags.hpp"
#include "campaign/case_source.hpp"
#include "campaign/evidence/files.hpp"
#include "core/cases/json_fields.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "core/tools/dialect.hpp"
#include "ops/operation.hpp"
#include "reporting/reports/shell_quote.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_plan_bytes = std::size_t{1} << 20;

Plan plan_from(const Flags& flags) {
    Plan plan = default_plan();
    if (!flags.plan.empty()) {
        try {
            plan = plan_from_json(
                parse_bounded(read_file(flags.plan, max_plan_bytes), max_plan_bytes));
        } catch (const RecipeError& error) {
            throw UsageError("'" + flags.plan + "' is not a plan: " + error.what());
        }
    }
    if (!flags.operations.empty()) {
        plan.operations = parse_operations(flags.operations);
    }
    check_plan(plan);
    return plan;
}

Pins pins_from(const Flags& flags) {
    Pins pins;
    for (const std::string& pin : flags.pins) {
        const std::size_t equals = pin.find('=');
        if (equals == std::string::npos || equals == 0) {
            throw UsageError("--pin takes PATH=VALUE, such as 'step[0].arg[-d]=1'");
        }
        if (!pins.emplace(pin.substr(0, equals), pin.substr(equals + 1)).second) {
            throw UsageError("--pin holds '" + pin.substr(0, equals) + "' twice");
        }
    }
    return pins;
}

void print_shell(std::uint64_t index, const Case& c) {
    std::cout << "# case " << index << ": " << c.operation << ", " << intent_name(c);
    if (const std::string_view rule = broken_rule(c); !rule.empty()) {
        std::cout << " (" << rule << ")";
    }
    std::cout << "\n";
    for (const ImageRecipe& image : c.images) {
        std::cout << "#   " << file_name(image.id, image.format) << ": " << image.size
                  << (image.size == 1 ? " byte, " : " bytes, ") << image.content.size()
                  << (image.content.size() == 1 ? " write" : " writes")
                  << (image.backing ? ", on " + *image.backing : "") << "\n";
        for (const Damage& damage : image.damage) {
            std::cout << "#     damaged: " << damage.field << " " << damage.index << " = "
                      << damage.value << "\n";
        }
    }
    for (const Step& step : c.steps) {
        std::cout << program_of(step);
        for (const std::string& word : render_step(c, step)) {
            std::cout << " " << shell_quote(word);
        }
        std::cout << "\n";
    }
}

int draw(const Flags& flags) {
    if (!flags.format.empty() && flags.format != "json" && flags.format != "shell") {
        throw UsageError("--as takes json or shell, not '" + flags.format.substr(0, 80) + "'");
    }
    if (flags.case_index && flags.number) {
        throw UsageError("--case and -n do not go together");
    }
    if (!flags.seed) {
        throw UsageError("draw needs --seed S");
    }
    const Plan plan = plan_from(flags);
    const Registry registry = load_registry(plan.registry_mode, flags.known_directory);
    CaseSource cases(plan, *flags.seed, registry);
    const Pins pins = pins_from(flags);
    const std::uint64_t first = flags.case_index.value_or(0);
    const std::uint64_t count = flags.number.value_or(1);
    for (std::uint64_t index = first; index - first < count; ++index) {
        std::optional<Case> c;
        try {
            c = cases.draw(index, &pins).c;
        } catch (const PinError& error) {
            throw UsageError(error.what());
        }
        if (!c) {
            std::cerr << "difffuzz: case " << index << " is exhausted\n";
        } else if (flags.format == "shell") {
            print_shell(index, *c);
        } else {
            std::cout << to_json(*c).dump() << "\n";
        }
    }
    return static_cast<int>(ExitCode::holds);
}

}  // namespace

CommandSpec draw_command() {
    return {"draw",
            "prints the cases that a seed and a plan give, without running any tool",
            "difffuzz draw --seed 42 -n 3 --ops bench --as shell",
            {"--seed", "--plan", "--ops", "--case", "-n,--number", "--pin", "--as", "--known-dir"},
            "",
            0,
            0,
            draw};
}

}  // namespace difffuzz

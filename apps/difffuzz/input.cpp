#include "apps/difffuzz/input.hpp"

#include <iostream>

#include <nlohmann/json.hpp>

#include "campaign/evidence/files.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "core/tools/dialect.hpp"
#include "oracles/shown_text.hpp"
#include "reporting/filing/embedded_record.hpp"
#include "reporting/reports/shell_quote.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_input_bytes = std::size_t{16} << 20;
constexpr std::string_view record_kind = "difffuzz.record/";

}  // namespace

ParsedRecord read_record_or_recipe(const std::string& path) {
    std::string text = read_file(path, max_input_bytes);
    if (auto record = find_embedded_record(text)) {
        text = std::move(*record);
    }
    ParsedRecord input;
    try {
        const nlohmann::json json = parse_bounded(text, max_input_bytes, 128);
        if (json.is_object() && json.value("schema", "").starts_with(record_kind)) {
            input = parse_record(text);
        } else {
            input.recipe = case_from_text(text);
        }
    } catch (const RecipeError& error) {
        throw UsageError("'" + path + "' cannot be used: " + error.what());
    } catch (const nlohmann::json::exception&) {
        throw UsageError("'" + path + "' cannot be used: it is neither a record nor a recipe");
    }
    if (const auto violations = validate(input.recipe); !violations.empty()) {
        throw UsageError("'" + path + "' holds a case outside of the envelope of '" +
                         input.recipe.operation + "': " + violations.front().rule + ", " +
                         violations.front().detail);
    }
    return input;
}

bool ended_or_told(const nlohmann::json& campaign, const std::string& evidence) {
    if (campaign.value("state", "") == "complete") {
        return true;
    }
    std::cout << "incomplete: this campaign did not end; continue it with 'difffuzz run --resume "
                 "--out "
              << printable_text(evidence) << "'\n";
    return false;
}

std::string shown_commands(const Case& c) {
    std::string text;
    for (const Step& step : c.steps) {
        text += program_of(step);
        for (const std::string& word : render_step(c, step)) {
            text += " " + shell_quote(word);
        }
        text += "\n";
    }
    return text;
}

}  // namespace difffuzz

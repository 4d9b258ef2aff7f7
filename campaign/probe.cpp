#include "campaign/probe.hpp"

#include <algorithm>
#include <set>

#include "core/cases/json_fields.hpp"
#include "core/cases/recipe_json.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_probe_bytes = std::size_t{4} << 20;
constexpr std::size_t max_open = 64;
constexpr std::size_t max_values = 256;
constexpr std::size_t max_pins = 256;
constexpr std::size_t max_comment_lines = 1000;
constexpr std::size_t max_text = 4096;
constexpr std::uint32_t attempts = 32;
constexpr const char* hole = "draw";

// The same error, of a part that lies at `place`.
[[noreturn]] void rethrow_below(const std::string& place, const RecipeError& error) {
    const std::string text = error.what();
    const std::size_t end = text.find(": ");
    const std::string pointer = text.substr(0, end);
    throw RecipeError(place + (pointer.starts_with('/') ? pointer : ""), text.substr(end + 2));
}

// A comment is for people: a text or lines of text.
void check_comment(ObjectFields& fields) {
    const json* comment = fields.optional("comment");
    if (comment == nullptr || comment->is_string()) {
        return;
    }
    for (const json& line : fields.array("comment", max_comment_lines)) {
        checked_text(line, fields.at("comment"), max_text);
    }
}

OpenValue open_value_from(const json& value, const std::string& pointer) {
    ObjectFields fields(value, pointer);
    OpenValue open;
    if (fields.optional("of") != nullptr) {
        const json& values = fields.array("of", max_values);
        open.values.assign(values.begin(), values.end());
        if (open.values.empty()) {
            throw RecipeError(fields.at("of"), "must hold at least one value");
        }
    } else {
        open.low = fields.number("from", 0, UINT64_MAX);
        open.high = fields.number("to", open.low, UINT64_MAX);
        if (fields.optional("multiple_of") != nullptr) {
            open.step = fields.number("multiple_of", 1, UINT64_MAX);
        }
        if (open.high / open.step * open.step < open.low) {
            throw RecipeError(pointer, "leaves no number: there is no multiple of " +
                                           std::to_string(open.step) + " in its range");
        }
    }
    fields.finish();
    return open;
}

json drawn_value(const OpenValue& open, const Draws& draws, const std::string& name) {
    if (!open.values.empty()) {
        return open.values[draws.between(name, 0, open.values.size() - 1)];
    }
    const std::uint64_t first = open.low / open.step + (open.low % open.step == 0 ? 0 : 1);
    return draws.between(name, first, open.high / open.step) * open.step;
}

bool is_hole(const json& value) {
    return value.is_object() && value.size() == 1 && value.contains(hole);
}

// Names that are used, each checked to be one of `open`.
void find_holes(const json& value, const std::string& pointer,
                const std::map<std::string, OpenValue>& open, std::set<std::string>& used) {
    if (is_hole(value)) {
        const std::string name = checked_text(value.at(hole), pointer + "/" + hole, max_text);
        if (!open.contains(name)) {
            throw RecipeError(pointer + "/" + hole, "names '" + name + "', which /open lacks");
        }
        used.insert(name);
        return;
    }
    if (value.is_structured()) {
        for (const auto& item : value.items()) {
            find_holes(item.value(), pointer + "/" + item.key(), open, used);
        }
    }
}

// With every hole filled. A size that was left open is spelled in decimal.
json filled(const json& value, const std::map<std::string, json>& drawn) {
    if (is_hole(value)) {
        return drawn.at(value.at(hole));
    }
    if (!value.is_structured()) {
        return value;
    }
    json result = value;
    for (auto& item : result.items()) {
        item.value() = filled(item.value(), drawn);
    }
    if (value.is_object() && value.size() == 1 && value.contains("size") &&
        is_hole(value.at("size"))) {
        result["as"] = result.at("size").dump();
    }
    return result;
}

// Why the case cannot be used; empty if it can.
std::string outside_of_envelope(const Case& c) {
    const auto violations = validate(c);
    return violations.empty()
               ? ""
               : "lies outside of the envelope of '" + c.operation +
                     "': " + violations.front().rule + ", " + violations.front().detail;
}

Case written_case(const Probe& probe, const Draws& draws) {
    std::map<std::string, json> drawn;
    for (const auto& [name, open] : probe.open) {
        drawn[name] = drawn_value(open, draws, name);
    }
    Case c;
    try {
        c = case_from_json(filled(probe.recipe, drawn));
    } catch (const RecipeError& error) {
        rethrow_below("/recipe", error);
    }
    return c;
}

Case picked_case(const Probe& probe, std::uint64_t seed, std::uint64_t index,
                 std::uint32_t attempt) {
    Plan plan = default_plan();
    plan.operations = {{probe.operation, 1}};
    return draw_case(plan, seed, index, attempt, &probe.pins);
}

}  // namespace

Probe parse_probe(std::string_view text) {
    json value = parse_bounded(text, max_probe_bytes);
    Probe probe;
    if (value.is_object() && value.value("schema", json()) == recipe_schema) {
        probe.recipe = std::move(value);
        return probe;
    }
    ObjectFields fields(value, "");
    require_schema(fields.text("schema", max_text), probe_schema);
    check_comment(fields);
    if (const json* recipe = fields.optional("recipe")) {
        probe.recipe = *recipe;
        if (const json* open = fields.optional("open")) {
            if (!open->is_object() || open->size() > max_open) {
                throw RecipeError("/open", "must be an object of at most " +
                                               std::to_string(max_open) + " values");
            }
            for (const auto& item : open->items()) {
                probe.open[item.key()] = open_value_from(item.value(), "/open/" + item.key());
            }
        }
        std::set<std::string> used;
        find_holes(probe.recipe, "/recipe", probe.open, used);
        for (const auto& [name, unused] : probe.open) {
            if (!used.contains(name)) {
                throw RecipeError("/open/" + name, "is used nowhere in the recipe");
            }
        }
    } else {
        probe.operation = fields.text("operation", max_text);
        if (find_operation(probe.operation) == nullptr) {
            throw RecipeError("/operation", "there is no operation '" + probe.operation +
                                                "'; 'difffuzz ops' lists them");
        }
        if (const json* pins = fields.optional("pins")) {
            if (!pins->is_object() || pins->size() > max_pins) {
                throw RecipeError(
                    "/pins", "must be an object of at most " + std::to_string(max_pins) + " texts");
            }
            for (const auto& item : pins->items()) {
                probe.pins[item.key()] =
                    checked_text(item.value(), "/pins/" + item.key(), max_text);
            }
        }
    }
    fields.finish();
    return probe;
}

Case case_of(const Probe& probe, std::uint64_t seed, std::uint64_t index) {
    const std::string place = probe.recipe.is_null() ? "/pins" : "/recipe";
    std::string reason;
    const std::uint32_t tries = probe.is_open() ? attempts : 1;
    for (std::uint32_t attempt = 0; attempt < tries; ++attempt) {
        try {
            DrawState state = Draws::start(seed, index, attempt);
            Case c = probe.recipe.is_null() ? picked_case(probe, seed, index, attempt)
                                            : written_case(probe, Draws(state).scope("probe"));
            reason = outside_of_envelope(c);
            if (reason.empty()) {
                return c;
            }
        } catch (const PinError& error) {
            // Not every case has every draw.
            reason = error.what();
        }
    }
    throw RecipeError(place, reason);
}

}  // namespace difffuzz

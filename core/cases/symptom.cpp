#include "core/cases/symptom.hpp"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/cases/digest.hpp"
#include "core/cases/json_fields.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

template <typename Enum, std::size_t Size>
using Names = std::array<std::pair<Enum, std::string_view>, Size>;

constexpr Names<LayerId, 18> layer_names{{{LayerId::setup, "setup"},
                                          {LayerId::spawn, "spawn"},
                                          {LayerId::timeout, "timeout"},
                                          {LayerId::crash, "crash"},
                                          {LayerId::exit, "exit"},
                                          {LayerId::code, "code"},
                                          {LayerId::header, "header"},
                                          {LayerId::error, "error"},
                                          {LayerId::json, "json"},
                                          {LayerId::text, "text"},
                                          {LayerId::inputs, "inputs"},
                                          {LayerId::files, "files"},
                                          {LayerId::content, "content"},
                                          {LayerId::check, "check"},
                                          {LayerId::bytes, "bytes"},
                                          {LayerId::relations, "relations"},
                                          {LayerId::determinism, "determinism"},
                                          {LayerId::resource, "resource"}}};

constexpr Names<Severity, 7> severity_names{{{Severity::crash, "crash"},
                                             {Severity::corruption, "corruption"},
                                             {Severity::nondeterminism, "nondeterminism"},
                                             {Severity::disagreement, "disagreement"},
                                             {Severity::detail, "detail"},
                                             {Severity::hang, "hang"},
                                             {Severity::reference, "reference"}}};

constexpr Names<Direction, 4> direction_names{{{Direction::subject, "subject"},
                                               {Direction::reference, "reference"},
                                               {Direction::both, "both"},
                                               {Direction::differ, "differ"}}};

template <typename Enum, std::size_t Size>
std::string_view name_of(const Names<Enum, Size>& names, Enum wanted) {
    for (const auto& [value, name] : names) {
        if (value == wanted) {
            return name;
        }
    }
    return "unknown";
}

template <typename Enum, std::size_t Size>
std::optional<Enum> value_of(const Names<Enum, Size>& names, std::string_view wanted) {
    for (const auto& [value, name] : names) {
        if (name == wanted) {
            return value;
        }
    }
    return std::nullopt;
}

// Longest texts that a symptom holds, bytes; the layers stay below them.
constexpr std::size_t max_word = 64;
constexpr std::size_t max_field = 2048;
constexpr std::size_t max_message = 512;

template <typename Value>
Value known_word(ObjectFields& fields, const char* name,
                 std::optional<Value> (*parse)(std::string_view), const char* kind) {
    const auto value = parse(fields.text(name, max_word));
    if (!value) {
        throw RecipeError(fields.at(name), std::string("is not the name of a ") + kind);
    }
    return *value;
}

ContentShape shape_from_json(const json& value, const std::string& pointer) {
    ObjectFields fields(value, pointer);
    ContentShape shape{fields.text("subject_has", max_word), fields.text("where", max_word),
                       fields.text("unit", max_word), fields.text("cluster", max_word)};
    fields.finish();
    return shape;
}

}  // namespace

std::string_view to_string(LayerId layer) { return name_of(layer_names, layer); }
std::optional<LayerId> parse_layer(std::string_view name) { return value_of(layer_names, name); }

std::string_view to_string(Severity severity) { return name_of(severity_names, severity); }
std::optional<Severity> parse_severity(std::string_view name) {
    return value_of(severity_names, name);
}

std::string_view to_string(Direction direction) { return name_of(direction_names, direction); }
std::optional<Direction> parse_direction(std::string_view name) {
    return value_of(direction_names, name);
}

json to_json(const Symptom& symptom) {
    json result{{"operation", symptom.operation},
                {"layer", to_string(symptom.layer)},
                {"layer_name", symptom.layer_name},
                {"direction", to_string(symptom.direction)},
                {"subject_class", symptom.subject_class},
                {"reference_class", symptom.reference_class},
                {"field", symptom.field},
                {"subject_message", symptom.subject_message},
                {"reference_message", symptom.reference_message}};
    if (symptom.shape) {
        result["shape"] = {{"subject_has", symptom.shape->subject_has},
                           {"where", symptom.shape->where},
                           {"unit", symptom.shape->unit},
                           {"cluster", symptom.shape->cluster}};
    }
    return result;
}

Symptom symptom_from_json(const json& value) {
    ObjectFields fields(value, "");
    Symptom symptom;
    symptom.operation = fields.text("operation", max_word);
    symptom.layer = known_word<LayerId>(fields, "layer", parse_layer, "layer");
    symptom.layer_name = fields.text("layer_name", max_word);
    symptom.direction = known_word<Direction>(fields, "direction", parse_direction, "direction");
    symptom.subject_class = fields.text("subject_class", max_word);
    symptom.reference_class = fields.text("reference_class", max_word);
    symptom.field = fields.text("field", max_field);
    symptom.subject_message = fields.text("subject_message", max_message);
    symptom.reference_message = fields.text("reference_message", max_message);
    if (const json* shape = fields.optional("shape")) {
        symptom.shape = shape_from_json(*shape, fields.at("shape"));
    }
    fields.finish();
    return symptom;
}

std::string record_type(const Symptom& symptom) {
    return symptom.operation + "_" + symptom.layer_name + "_divergence";
}

std::string symptom_key(const Symptom& symptom) {
    return sha256_hex(to_json(symptom).dump()).substr(0, 16);
}

}  // namespace difffuzz

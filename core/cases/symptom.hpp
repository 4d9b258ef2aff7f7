// The typed difference of one run, from its observations alone; and the ids of layers and
// severities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace difffuzz {

// Oracle layers in their order: an earlier one that diverges is the symptom's. The first three are
// gates: their verdict is never a divergence.
enum class LayerId {
    setup,
    spawn,
    timeout,
    crash,
    exit,
    code,
    header,
    error,
    json,
    text,
    inputs,
    files,
    content,
    check,
    bytes,
    relations,
    determinism,
    resource,
};
std::string_view to_string(LayerId layer);
std::optional<LayerId> parse_layer(std::string_view name);

// What a divergence costs its maintainer, worst first.
enum class Severity { crash, corruption, nondeterminism, disagreement, detail, hang, reference };
std::string_view to_string(Severity severity);
std::optional<Severity> parse_severity(std::string_view name);

// Which side deviates, as far as the layer can tell.
enum class Direction {
    subject,    // the subject alone did (crashed, refused, holds wrong data by the model, ...)
    reference,  // the reference alone did
    both,       // both broke the model in the same way
    differ,     // they differ, and nothing tells which is off
};
std::string_view to_string(Direction direction);
std::optional<Direction> parse_direction(std::string_view name);

// The shape of the first difference of contents; words, never numbers.
struct ContentShape {
    // What the side that is off has there (the subject, unless the reference alone is): "zeros",
    // "old", "backing", "shifted", "foreign", "size".
    std::string subject_has;
    std::string where;    // "inside", "edge", "past" of the unit in `unit`
    std::string unit;     // "sector", "cluster", "eof", "window"
    std::string cluster;  // kind of cluster there by the model: "data", "zero", "compressed",
                          // "hole", empty where there is no model
    bool operator==(const ContentShape&) const = default;
};

// Nothing here depends on the case's numbers, names or paths: equal bugs give equal symptoms.
struct Symptom {
    std::string operation;  // of the culprit step
    LayerId layer = LayerId::exit;
    std::string layer_name;  // as the operation's row calls it ("write" for bench's content)
    Direction direction = Direction::differ;
    std::string subject_class;  // outcome class of the culprit step
    std::string reference_class;
    std::string field;  // typed path of what differs ("format-specific.data.compat"), or a
                        // detail of the layer ("unreadable", "escapes", "leftover")
    std::string subject_message;  // template: numbers, names and paths abstracted
    std::string reference_message;
    std::optional<ContentShape> shape;
    bool operator==(const Symptom&) const = default;
};

nlohmann::json to_json(const Symptom& symptom);
// Throws RecipeError (core/cases/recipe_json.hpp) for anything that to_json did not write.
Symptom symptom_from_json(const nlohmann::json& json);

// The record type: "<operation>_<layer name>_divergence".
std::string record_type(const Symptom& symptom);
// 16 hex digits of the symptom's SHA-256 over its canonical JSON.
std::string symptom_key(const Symptom& symptom);

}  // namespace difffuzz

// Parsing what a tool printed as JSON, and the field by field difference of two such values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace difffuzz {

inline constexpr int max_json_depth = 64;

enum class JsonForm {
    parsed,
    too_deep,   // nested more than max_json_depth deep; the rest was not looked at
    malformed,  // no JSON, a key twice in one object, or a scalar at the top
};

struct ParsedJson {
    JsonForm form = JsonForm::malformed;
    nlohmann::json value;  // null unless parsed
};

// Only objects and arrays count: a line of text that happens to be a number is no JSON output.
ParsedJson parse_output(std::string_view text);
// Whether `text` starts as an object or array does, after white space.
bool looks_like_json(std::string_view text);

enum class JsonChange { only_subject, only_reference, value, type };

struct JsonDifference {
    std::string path;  // "format-specific.data.compat", array indices as "[]"; shown_text, bounded
    JsonChange change = JsonChange::value;
    nlohmann::json
        subject;  // as found; text for what is longer than max_shown_value; null if absent
    nlohmann::json reference;
};

inline constexpr std::size_t max_shown_value = 200;  // bytes of a value in a difference
inline constexpr std::size_t max_differences = 64;   // kept; more are counted only

struct JsonDifferences {
    std::vector<JsonDifference> first;  // in order of keys, at most max_differences
    std::vector<std::string> fields;    // all signed paths ("+a", "-b", "~c", "!d"), sorted, once
    std::size_t count = 0;
};

// Array elements are compared by place. An integer and a floating-point number differ in type.
JsonDifferences difference_of(const nlohmann::json& subject, const nlohmann::json& reference);

// The symptom's field: at most 8 of the signed paths, joined with commas, then "…".
std::string joined_fields(const JsonDifferences& differences);

// For a record's details: {"count", "differences": [{"path", "change", "subject", "reference"}]}.
nlohmann::json to_json(const JsonDifferences& differences);

}  // namespace difffuzz

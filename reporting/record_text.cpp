#include "reporting/record_text.hpp"

#include <fmt/format.h>

#include "reporting/markdown.hpp"
#include "reporting/reports/shell_quote.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

// The outcome of the culprit step; null where there is none.
const json& culprit_outcome(const json& record, const std::string& side) {
    static const json none;
    const json& kept = record.at(side);
    if (!kept.contains("outcomes") || !kept.at("outcomes").is_array()) {
        return none;
    }
    const std::uint64_t step = number_field(record, "culprit_step");
    const json& outcomes = kept.at("outcomes");
    return step < outcomes.size() && outcomes.at(step).is_object() ? outcomes.at(step) : none;
}

}  // namespace

std::string text_field(const json& object, const char* field) {
    return object.is_object() && object.contains(field) && object.at(field).is_string()
               ? object.at(field).get<std::string>()
               : std::string{};
}

std::uint64_t number_field(const json& object, const char* field) {
    return object.is_object() && object.contains(field) && object.at(field).is_number_unsigned()
               ? object.at(field).get<std::uint64_t>()
               : 0;
}

std::string commands_text(const json& record, std::size_t max_bytes) {
    std::string lines;
    if (!record.contains("argv") || !record.at("argv").is_object()) {
        return lines;
    }
    for (const json& words : record.at("argv").value("subject", json::array())) {
        std::string line;
        for (const json& word : words) {
            if (word.is_string()) {
                line += (line.empty() ? "" : " ") + shell_quote(word.get<std::string>());
            }
        }
        lines += line + "\n";
    }
    return first_lines(lines, max_bytes);
}

std::string ending_text(const json& record, const std::string& side) {
    const json& outcome = culprit_outcome(record, side);
    if (!outcome.is_object()) {
        return "(nothing kept)";
    }
    std::string ending = text_field(outcome, "class");
    for (const char* field : {"code", "signal"}) {
        if (outcome.contains(field) && outcome.at(field).is_number_integer()) {
            ending += fmt::format(", {} {}", field, outcome.at(field).get<std::int64_t>());
        }
    }
    for (const char* field : {"limit", "failed"}) {
        if (const std::string value = text_field(outcome, field); !value.empty()) {
            ending += ", " + value;
        }
    }
    return ending;
}

std::string stream_text(const json& record, const std::string& side, const std::string& stream,
                        std::size_t max_bytes) {
    return first_lines(shown_lines(text_field(culprit_outcome(record, side), stream.c_str())),
                       max_bytes);
}

std::string features_text(const json& record, std::size_t max_bytes) {
    std::string lines;
    if (record.contains("shrinking") && record.at("shrinking").is_object()) {
        for (const json& feature : record.at("shrinking").value("features", json::array())) {
            lines += (feature.is_string() ? feature.get<std::string>() : feature.dump()) + "\n";
        }
    }
    return first_lines(lines, max_bytes);
}

}  // namespace difffuzz

#include "reporting/filing/embedded_record.hpp"

#include "core/cases/json_fields.hpp"
#include "reporting/markdown.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

// The first word of an info string is what trackers highlight by.
constexpr std::string_view record_info = "json difffuzz-record";

// Backticks occur inside of JSON strings only, where they can be written as an escape.
std::string without_backticks(const std::string& text) {
    std::string result;
    for (const char byte : text) {
        result += byte == '`' ? std::string("\\u0060") : std::string(1, byte);
    }
    return result;
}

std::string first_record_block(std::string_view text) {
    std::string found;
    MarkdownLines lines(text);
    while (lines.next()) {
        if (lines.inside() && lines.info() == record_info) {
            found.append(lines.line()).append("\n");
        } else if (!found.empty()) {
            break;
        }
    }
    return found;
}

// The text of an issue as a tracker's API answers with it; empty for anything else.
std::string answered_body(std::string_view text) {
    if (!text.starts_with('{')) {
        return {};
    }
    try {
        const json answer = parse_bounded(text, text.size(), 64);
        for (const char* field : {"body", "description"}) {
            if (answer.contains(field) && answer.at(field).is_string()) {
                return answer.at(field).get<std::string>();
            }
        }
    } catch (const RecipeError&) {
        // Not for us; whoever reads it as something else says what is wrong with it.
    }
    return {};
}

}  // namespace

std::string embedded_record(const json& record) {
    json part = record;
    for (const char* field :
         {"original_recipe", "argv", "details", "confirmations", "attribution"}) {
        part.erase(field);
    }
    for (const char* side : {"subject", "reference"}) {
        part.at(side).erase("outcomes");
    }
    return fenced(without_backticks(part.dump(-1, ' ', true)), record_info);
}

std::optional<std::string> find_embedded_record(std::string_view text) {
    if (const std::string body = answered_body(text); !body.empty()) {
        return find_embedded_record(body);
    }
    const std::string found = first_record_block(text);
    return found.empty() ? std::nullopt : std::optional(found);
}

}  // namespace difffuzz

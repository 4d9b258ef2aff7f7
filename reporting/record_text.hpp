// Parts of a record as lines of text: for issues and reports. What tools said in them is escaped,
// but may look like anything; whoever shows it quotes it.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace difffuzz {

// The commands of the subject's side, one a line, quoted for bash; at most `max_bytes` and a line
// that says what is missing.
std::string commands_text(const nlohmann::json& record, std::size_t max_bytes);

// How the culprit step ended on a side ("subject", "reference"): "refused, code 1".
std::string ending_text(const nlohmann::json& record, const std::string& side);
// What it printed there; `stream` is "stdout" or "stderr". Empty where nothing was kept.
std::string stream_text(const nlohmann::json& record, const std::string& side,
                        const std::string& stream, std::size_t max_bytes);

// What a shrunk case could not lose, one feature a line; empty for one that was not shrunk.
std::string features_text(const nlohmann::json& record, std::size_t max_bytes);

// A field that is text, else ""; a field that is a natural number, else 0.
std::string text_field(const nlohmann::json& object, const char* field);
std::uint64_t number_field(const nlohmann::json& object, const char* field);

}  // namespace difffuzz

// A record inside of an issue's text: what `difffuzz repro` needs of it, and how it is found again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace difffuzz {

// A code block with `record`, less the large parts that `repro` does not read, on one line of ASCII
// without backticks.
std::string embedded_record(const nlohmann::json& record);

// The record in an issue's text, or in a JSON answer of a tracker whose `body` or `description` is
// one; nothing where there is none. The text is not checked otherwise: what comes back is to be
// parsed as any record.
std::optional<std::string> find_embedded_record(std::string_view text);

}  // namespace difffuzz

// How deeply a TOML text nests, found before it is parsed: the parser builds and frees nested
// tables by recursion, so that a small file of strangers could use up the stack. The syntax is that
// of TOML 1.0 (https://toml.io/en/v1.0.0).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace difffuzz {

// The parts of one dotted key or header, and the brackets open at a time, that are let through.
inline constexpr std::size_t max_toml_nesting = 32;
inline constexpr std::string_view toml_nesting_reason =
    "keys may have 32 parts, and arrays and tables may lie 32 deep in one another";

// The line, from 1, that nests deeper; nothing when no line does. What follows an error of syntax
// may be judged wrongly: the parser does not get there.
std::optional<std::size_t> line_nested_too_deeply(std::string_view text);

}  // namespace difffuzz

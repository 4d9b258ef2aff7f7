#include "core/toml_nesting.hpp"

#include <algorithm>

namespace difffuzz {
namespace {

// Where the string that begins at `at` ends: the position behind it, at most the text's end.
std::size_t behind_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const bool escapes = quote == '"';
    const std::string_view three = escapes ? "\"\"\"" : "'''";
    const bool long_one = text.substr(at, 3) == three;
    for (at += long_one ? 3 : 1; at < text.size(); ++at) {
        if (text[at] == '\\' && escapes) {
            ++at;
        } else if (long_one && text.substr(at, 3) == three) {
            // Up to two quotes before the closing three are part of the string.
            at += 3;
            for (int extra = 0; extra < 2 && at < text.size() && text[at] == quote; ++extra) {
                ++at;
            }
            return at;
        } else if (!long_one && (text[at] == quote || text[at] == '\n')) {
            return text[at] == quote ? at + 1 : at;
        }
    }
    return text.size();
}

}  // namespace

std::optional<std::size_t> line_nested_too_deeply(std::string_view text) {
    std::size_t parts = 1;  // of the key, or of what looks like one
    std::size_t open = 0;   // brackets
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            at = behind_string(text, at);
            continue;
        }
        if (c == '#') {
            at = std::min(text.find('\n', at), text.size());
            continue;
        }
        if (c == '.') {
            ++parts;
        } else if (c == '[' || c == '{') {
            ++open;
            parts = 1;
        } else if (c == ']' || c == '}') {
            open -= open > 0 ? 1 : 0;
            parts = 1;
        } else if (c == '=' || c == ',' || c == '\n') {
            parts = 1;
        }
        if (parts > max_toml_nesting || open > max_toml_nesting) {
            const auto before = text.substr(0, at);
            return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
        }
        ++at;
    }
    return std::nullopt;
}

}  // namespace difffuzz

// Numbers as users write them: strictly.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace difffuzz {

inline bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// `text` as a decimal number: digits alone, no sign, no blanks, no zero in front. Nothing for
// anything else, or beyond 64 bits.
inline std::optional<std::uint64_t> parse_decimal(std::string_view text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end || (text.size() > 1 && text[0] == '0')) {
        return std::nullopt;
    }
    return value;
}

}  // namespace difffuzz

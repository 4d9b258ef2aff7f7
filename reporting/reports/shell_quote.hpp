// Words for bash.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace difffuzz {

// `word` in printable ASCII, such that bash reads exactly these bytes: bare where that is safe,
// else single-quoted, or $'...' for what is not printable. No NUL.
inline std::string shell_quote(std::string_view word) {
    constexpr std::string_view safe =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.,+/:@%";
    if (!word.empty() && word.find_first_not_of(safe) == std::string_view::npos) {
        return std::string(word);
    }
    const bool printable = std::all_of(word.begin(), word.end(),
                                       [](char byte) { return byte >= 0x20 && byte < 0x7f; });
    std::string quoted = printable ? "'" : "$'";
    for (const char byte : word) {
        if (printable) {
            quoted += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
        } else if (byte < 0x20 || byte >= 0x7f) {
            constexpr std::string_view digits = "0123456789abcdef";
            const auto bits = static_cast<unsigned char>(byte);
            quoted.append("\\x").append(1, digits[bits >> 4U]).append(1, digits[bits & 0xFU]);
        } else {
            quoted += byte == '\'' || byte == '\\' ? "\\" : "";
            quoted += byte;
        }
    }
    return quoted + "'";
}

}  // namespace difffuzz

// Words for a POSIX shell.
#pragma once

#include <string>
#include <string_view>

namespace difffuzz {

// `word` such that a shell reads exactly these bytes: bare where that is safe, else single-quoted.
inline std::string shell_quote(std::string_view word) {
    constexpr std::string_view safe =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.,+/:@%";
    if (!word.empty() && word.find_first_not_of(safe) == std::string_view::npos) {
        return std::string(word);
    }
    std::string quoted = "'";
    for (const char byte : word) {
        quoted += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
    }
    return quoted + "'";
}

}  // namespace difffuzz

// Strangers' bytes made fit to be stored and shown: valid UTF-8, escaped, bounded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace difffuzz {

// What a finding holds of one side's message at most, in bytes.
inline constexpr std::size_t max_shown_message = 400;

// Length in bytes of the well-formed, printable UTF-8 sequence at `offset`: 1..4, or 0 when the
// bytes there are malformed (RFC 3629), a control character (C0, DEL, C1), or one that reorders or
// breaks lines (U+2028, U+2029, U+202A..U+202E, U+2066..U+2069).
std::size_t printable_length(std::string_view bytes, std::size_t offset);

// `bytes` with what is not printable as "\n", "\r", "\t" or "\xHH" and a backslash as "\\". At most
// `max_bytes` (at least 8) long; text that was cut ends in "…".
std::string shown_text(std::string_view bytes, std::size_t max_bytes);

// `text` for a line on a terminal: as shown_text, without a bound, and with backslashes as they
// are, so that text that was escaped before stays as it is.
std::string printable_text(std::string_view text);

// Lower-case hexadecimal digits.
std::string hex(std::string_view bytes);

}  // namespace difffuzz

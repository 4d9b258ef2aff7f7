// Times as trackers write them (ISO 8601).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace difffuzz {

// Seconds since 1970 as "2026-11-30T15:57:10Z".
std::string utc_text(std::int64_t seconds);
// Also with a fraction, which is dropped, and with an offset ("+02:00") in place of the Z.
std::optional<std::int64_t> parse_time(const std::string& text);

}  // namespace difffuzz

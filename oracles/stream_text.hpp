// The kept text of a stream.
#pragma once

#include <string>

#include "core/tools/command.hpp"

namespace difffuzz {

// Head and tail in one; something is missing between the two when stream.cut().
inline std::string stream_text(const Stream& stream) { return stream.head + stream.tail; }

inline bool printed_nothing(const Stream& stream) { return stream.observed_bytes == 0; }

}  // namespace difffuzz

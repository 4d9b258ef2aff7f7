// Names of snapshots and bitmaps as values of arguments: bytes, which need not be text.
#pragma once

#include <string>

#include "core/cases/value.hpp"

namespace difffuzz {

// A word where all bytes are printable ASCII, else bytes.
Value byte_name(const std::string& name);
// The name in a word or in bytes; null for any other value. Lives in `value`.
const std::string* byte_name_in(const Value& value);

}  // namespace difffuzz

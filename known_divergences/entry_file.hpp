// Entries as TOML files: docs/known-divergences.md describes them.
#pragma once

#include <string>
#include <string_view>

#include "known_divergences/entry.hpp"

namespace difffuzz {

inline constexpr std::size_t max_entry_bytes = std::size_t{1} << 20;

// One file, one entry. `name` is what messages call it; its stem is the entry's id. Throws
// UsageError with file, line and reason for anything that is not an entry: another key, a missing
// one, a value of another type or out of bounds. What the predicate and the exhibit say is looked
// at by those who use them.
KnownDivergence parse_entry(const std::string& name, std::string_view text);

}  // namespace difffuzz

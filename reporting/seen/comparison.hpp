// A campaign beside what was seen before: for its summary.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reporting/seen/memory.hpp"

namespace difffuzz {

// {"campaigns": in the memory, "buckets": {"new", "before", "gone"}: lists of {"key", "severity"}
// and, of those known, "first", "last"; "pairs": {"before", "added", "list"}, "entries" and
// "tools":
// {"before", "added"} as lists}. Gone are buckets of operations that the campaign had, which it did
// not show.
nlohmann::json seen_json(const Memory& memory, const nlohmann::json& summary);

// The same for the summary, in a bounded number of lines.
std::vector<std::string> seen_lines(const nlohmann::json& seen);

}  // namespace difffuzz

// What a self-test found, as text and as JSON (docs/selftest.schema.json).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "campaign/selftest.hpp"

namespace difffuzz {

inline constexpr const char* selftest_schema = "difffuzz.selftest/1";

nlohmann::json selftest_json(const SelftestResult& result);

// The matrix of faults and layers: '#' where a layer was the first to diverge, '+' where it did
// too. Ends with the verdict, one line.
std::string selftest_text(const SelftestResult& result);

}  // namespace difffuzz

// How commands that make evidence end.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace difffuzz {

// Writes summary.json, summary.txt and, where the campaign is complete, manifest.json to the
// evidence; prints the second. Throws EnvironmentError.
void write_summary(const nlohmann::json& summary, const std::string& directory);

}  // namespace difffuzz

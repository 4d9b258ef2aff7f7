// Which side of a divergence seems wrong, in words: for the summary, reports and issues.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace difffuzz {

// What `attribution` of a record, or of a bucket of a summary, concludes: "subject", "reference",
// "both", "both legal" or "undecided"; empty where `holder` has none of that form (records of
// before there was one).
std::string blamed_side(const nlohmann::json& holder);

// "the subject seems wrong"; for an empty side or "undecided": "nothing tells which side is wrong".
std::string blame_sentence(const std::string& side);

// The conclusion, and behind it a line for each voice: "model: the subject does not have ...".
// Empty where there is no attribution. Strangers' ids may stand in them.
std::vector<std::string> attribution_lines(const nlohmann::json& holder);
// The same as bounded text, a line each; empty where no voice speaks.
std::string attribution_text(const nlohmann::json& holder);

}  // namespace difffuzz

// What a divergence means, in words: for issues and reports.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace difffuzz {

struct Wording {
    std::string title;      // "convert: the content differs; the subject seems wrong"
    std::string what;       // one sentence: what was done and what differs
    std::string expected;   // what should have been, in a sentence or two, with the reason
    std::string suspicion;  // "the subject", "the reference", "both", "both legal", "undecided"
};

// Of a checked record with a symptom. Only words of ours, letters, digits and plain punctuation:
// nothing in it can be Markdown, a mention or a reference. The title has at most 200 bytes.
Wording wording_of(const nlohmann::json& record);

// One sentence on what a layer compares, "" for a layer without one.
std::string_view layer_meaning(std::string_view layer);

}  // namespace difffuzz

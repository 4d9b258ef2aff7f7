// The verdict of one case.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cases/case.hpp"
#include "ops/operation.hpp"
#include "oracles/layer.hpp"

namespace difffuzz {

// Every index of a campaign has exactly one of these in the end.
enum class Terminal {
    agreed,
    diverged,
    refused_by_both,
    inconclusive_external_timeout,
    inconclusive_limited,
    harness_fixture,     // an input image could not be built
    harness_inspection,  // a neutral look failed on both sides
    exhausted,           // no attempt passed the filter
    unavailable,         // a tool does not have the operation
    harness_killed,      // the case ended difffuzz's own process twice
    outside_shard,
    untested,
};
std::string_view to_string(Terminal terminal);
// Throws RecipeError for a name that to_string does not give.
Terminal parse_terminal(std::string_view name);

// What somebody read out of an image.
struct ReadContent {
    enum class End { read, refused, no_answer } end = End::no_answer;
    VirtualContent content;  // of what was read
};

// One image that the culprit step left on one side, as read by both tools and by our own reader
// (which gives no answer for formats that it does not know).
struct CrossReading {
    std::string image;  // its id
    std::string format;
    Direction written_by = Direction::subject;  // subject or reference
    ReadContent by_subject;
    ReadContent by_reference;
    ReadContent by_us;
};

struct CaseResult {
    Terminal terminal = Terminal::untested;
    std::string reason;  // stable words; empty where the terminal says it all
    // At least one layer beyond exit and code applied and agreed or diverged.
    bool compared = false;
    // The reference accepted every step (it exited 0 or with an answer code).
    bool reference_accepted = false;
    bool subject_accepted = false;
    std::vector<LayerReport> layers;  // merged over the steps: the last step's verdict that applied
    std::optional<Difference> difference;
    std::size_t culprit_step = 0;
    // Set when one side timed out, and which.
    bool subject_timed_out = false;
    bool reference_timed_out = false;
    bool planted = false;  // a stand-in planted its fault in some step
    Observation subject;
    Observation reference;
    // Of the images of both sides, in pairs; only where somebody asked (read_across()).
    std::vector<CrossReading> readings;
    Observation subject_again;  // the second run; without steps where there was none
};

}  // namespace difffuzz

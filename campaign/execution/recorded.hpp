// What a tool printed once, kept so that another can be held against it without running it.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "campaign/execution/case_result.hpp"

namespace difffuzz {

// The layers that need nothing but endings and streams: gates, crash, exit, code, header, error,
// json, text.
std::span<const LayerId> recorded_layers();

// Why a case cannot be compared with recorded outcomes: an image that only a reference can build,
// or a step that is neutral. Empty if it can.
std::string needs_reference(const Case& c);

// Endings and streams of each step, with the operation's text normalisers applied. Null where a
// stream is longer than 64 KiB or was cut, or a step did not end by itself.
nlohmann::json recorded_outcomes(const Case& c, const Observation& side);
// Back from that. Throws RecipeError; `pointer` is where it stands.
Observation observation_from_recorded(const nlohmann::json& outcomes, const std::string& pointer);

// The verdict by recorded_layers() alone: what the subject was seen to do against what is recorded.
CaseResult compare_with_recorded(const Case& c, const Observation& subject,
                                 const Observation& recorded, const Limits& limits);

}  // namespace difffuzz

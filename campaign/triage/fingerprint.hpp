// The bucket key: a symptom, and the features of the case that shows it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/cases/case.hpp"
#include "core/cases/symptom.hpp"

namespace difffuzz {

// Raised when the features of a case, or how they are hashed, change.
inline constexpr unsigned fingerprint_version = 1;
// Of a case that was not shrunk: most of its features have nothing to do with the symptom.
inline constexpr unsigned unshrunk_fingerprint_version = 0;

// What a case has, in words without numbers, sorted, each once: its intent and broken rule, the
// commands and options of its steps (with words, but for one letter), and of its images the
// formats, creation options, chains, snapshots, bitmaps, kinds of writes and damaged fields. Of a
// shrunk case: what it could not lose.
std::vector<std::string> case_features(const Case& c);

// 16 hex digits over the version, the symptom and the features.
std::string shrunk_fingerprint(const Case& c, const Symptom& symptom);

// The same for a case that was not shrunk: over the symptom, the format of the first image that the
// culprit step names, and the feature of the damage (images/format.hpp).
std::string unshrunk_fingerprint(const Case& c, std::size_t culprit_step, const Symptom& symptom);

}  // namespace difffuzz

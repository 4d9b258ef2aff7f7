// One function for each reducer, for the table alone. See Reducer::edits.
#pragma once

#include "campaign/triage/reducer.hpp"

namespace difffuzz {

// A valid case in place of a damaged or a refused one.
std::vector<Edit> intent_edits(const Reduced& from, const WordDomain& words);
// Steps, with those that need what they made.
std::vector<Edit> step_edits(const Reduced& from, const WordDomain& words);
// Steps whose writes become part of an input image: a step less for a write more.
std::vector<Edit> absorb_edits(const Reduced& from, const WordDomain& words);
// Images, outputs, and members of backing chains.
std::vector<Edit> image_edits(const Reduced& from, const WordDomain& words);
// Arguments, and single options of an option list.
std::vector<Edit> argument_edits(const Reduced& from, const WordDomain& words);
// Creation options of input images, their snapshots and bitmaps.
std::vector<Edit> feature_edits(const Reduced& from, const WordDomain& words);
// Writes of content programs: left out, joined, shortened, aligned.
std::vector<Edit> write_edits(const Reduced& from, const WordDomain& words);
// Damage, field by field.
std::vector<Edit> damage_edits(const Reduced& from, const WordDomain& words);
// Formats: raw, else qcow2.
std::vector<Edit> format_edits(const Reduced& from, const WordDomain& words);
// Sizes of images.
std::vector<Edit> size_edits(const Reduced& from, const WordDomain& words);
// Values of arguments and options: numbers, sizes, words.
std::vector<Edit> value_edits(const Reduced& from, const WordDomain& words);
// Names of snapshots and bitmaps.
std::vector<Edit> name_edits(const Reduced& from, const WordDomain& words);
// What writes fill in: one plain byte.
std::vector<Edit> fill_edits(const Reduced& from, const WordDomain& words);

}  // namespace difffuzz

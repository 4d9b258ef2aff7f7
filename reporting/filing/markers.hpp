// The lines by which an issue or comment is known again as one of ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace difffuzz {

// What trackers are searched for: one word that only the issue of this bucket holds.
std::string bucket_word(const std::string& fingerprint);

// The line that says which bucket an issue is about.
std::string bucket_line(const std::string& fingerprint);
// The line that says with which versions, on which platform, a bucket was seen; `sighting` is 12
// hexadecimal digits (issue_text.hpp).
std::string sighting_line(const std::string& sighting);

// The fingerprints and sightings that a text's marker lines name. Only lines outside of code blocks
// count: what a tool printed stands inside of one.
struct Markers {
    std::vector<std::string> fingerprints;
    std::vector<std::string> sightings;
};
Markers find_markers(std::string_view text);

}  // namespace difffuzz

#include "reporting/filing/markers.hpp"

#include <algorithm>

#include "reporting/markdown.hpp"

namespace difffuzz {
namespace {

constexpr std::string_view bucket_begin = "Bucket: `difffuzz-bucket-";
constexpr std::string_view sighting_begin = "Seen with: `difffuzz-seen-";

// The digits between `begin` and a closing backtick, where `line` is nothing else.
std::string digits_of(std::string_view line, std::string_view begin, std::size_t count) {
    if (!line.starts_with(begin) || line.size() != begin.size() + count + 1 || line.back() != '`') {
        return {};
    }
    const std::string_view digits = line.substr(begin.size(), count);
    return digits.find_first_not_of("0123456789abcdef") == std::string_view::npos
               ? std::string(digits)
               : std::string{};
}

void add(std::vector<std::string>& to, std::string digits) {
    if (!digits.empty() && std::ranges::find(to, digits) == to.end()) {
        to.push_back(std::move(digits));
    }
}

}  // namespace

std::string bucket_word(const std::string& fingerprint) { return "difffuzz-bucket-" + fingerprint; }

std::string bucket_line(const std::string& fingerprint) {
    return std::string(bucket_begin) + fingerprint + "`";
}

std::string sighting_line(const std::string& sighting) {
    return std::string(sighting_begin) + sighting + "`";
}

Markers find_markers(std::string_view text) {
    Markers markers;
    MarkdownLines lines(text);
    while (lines.next()) {
        if (!lines.inside()) {
            add(markers.fingerprints, digits_of(lines.line(), bucket_begin, 16));
            add(markers.sightings, digits_of(lines.line(), sighting_begin, 12));
        }
    }
    return markers;
}

}  // namespace difffuzz

// Versions of tools, compared as versions and not as text, and ranges of them.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace difffuzz {

// By the numbers between the dots; what is missing is 0, so that "7.2" equals "7.2.0". Anything
// that is not a digit or a dot ends a version ("10.0.0-rc1" is 10.0.0). Any text has a place:
// one without digits is version 0.
std::strong_ordering compare_versions(std::string_view a, std::string_view b);

// Versions that satisfy every bound of a list: ">=7.2 <10.0", "=5.2.0", "" for all.
class VersionRange {
public:
    // Nothing for what is no list of bounds, each one of < <= > >= = before a dotted number.
    static std::optional<VersionRange> parse(std::string_view text);

    bool contains(std::string_view version) const;
    const std::string& text() const { return text_; }
    bool operator==(const VersionRange& other) const { return text_ == other.text_; }

private:
    struct Bound {
        std::string relation;
        std::string version;
    };
    std::string text_;
    std::vector<Bound> bounds_;
};

}  // namespace difffuzz

#include "known_divergences/versions.hpp"
#include "core/decimal.hpp"

#include <algorithm>
#include <sstream>

namespace difffuzz {
namespace {

// Takes the next number off the front, without the zeros before it; "" at the end of the version.
// Numbers are compared as text of digits: they may be of any length.
std::string_view take_number(std::string_view& rest) {
    std::size_t end = 0;
    while (end < rest.size() && is_digit(rest[end])) {
        ++end;
    }
    std::string_view number = rest.substr(0, end);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    rest = end < rest.size() && rest[end] == '.' ? rest.substr(end + 1) : std::string_view{};
    return number;
}

bool is_dotted_number(std::string_view text) {
    bool digit_before = false;
    for (const char c : text) {
        if (!is_digit(c) && (c != '.' || !digit_before)) {
            return false;
        }
        digit_before = is_digit(c);
    }
    return digit_before;
}

bool holds(std::strong_ordering order, std::string_view relation) {
    if (relation == "<") {
        return order < 0;
    }
    if (relation == "<=") {
        return order <= 0;
    }
    if (relation == ">") {
        return order > 0;
    }
    return relation == ">=" ? order >= 0 : order == 0;
}

}  // namespace

std::strong_ordering compare_versions(std::string_view a, std::string_view b) {
    while (!a.empty() || !b.empty()) {
        const std::string_view left = take_number(a);
        const std::string_view right = take_number(b);
        if (left.size() != right.size()) {
            return left.size() <=> right.size();
        }
        if (const int order = left.compare(right); order != 0) {
            return order <=> 0;
        }
    }
    return std::strong_ordering::equal;
}

std::optional<VersionRange> VersionRange::parse(std::string_view text) {
    VersionRange range;
    range.text_ = text;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        const std::size_t end = word.find_first_not_of("<>=");
        Bound bound{word.substr(0, end), end == std::string::npos ? "" : word.substr(end)};
        const auto relations = {"<", "<=", ">", ">=", "="};
        if (std::find(relations.begin(), relations.end(), bound.relation) == relations.end() ||
            !is_dotted_number(bound.version)) {
            return std::nullopt;
        }
        range.bounds_.push_back(std::move(bound));
    }
    return range;
}

bool VersionRange::contains(std::string_view version) const {
    return std::all_of(bounds_.begin(), bounds_.end(), [&](const Bound& bound) {
        return holds(compare_versions(version, bound.version), bound.relation);
    });
}

}  // namespace difffuzz

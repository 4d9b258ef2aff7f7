#include "core/suggest.hpp"

#include <algorithm>
#include <numeric>

namespace difffuzz {
namespace {

// Levenshtein distance, two-row dynamic programme.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row[b.size()];
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
    std::size_t best = 4;
    std::string_view nearest;
    for (const std::string& candidate : known) {
        const std::size_t distance = edit_distance(word.substr(0, 64), candidate);
        if (distance < best && distance < std::max(word.size(), std::size_t{1})) {
            best = distance;
            nearest = candidate;
        }
    }
    return nearest.empty() ? std::string{} : ", did you mean '" + std::string(nearest) + "'?";
}

}  // namespace difffuzz

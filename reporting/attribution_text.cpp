#include "reporting/attribution_text.hpp"

#include <algorithm>
#include <array>

#include "reporting/markdown.hpp"
#include "reporting/record_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

// The attribution of a record that may have been written by anybody; null where it has none.
const json* attribution_of(const json& holder) {
    const auto found = holder.find("attribution");
    return found != holder.end() && found->is_object() ? &*found : nullptr;
}

}  // namespace

std::string blamed_side(const json& holder) {
    constexpr std::array<std::string_view, 5> sides{"subject", "reference", "both", "both legal",
                                                    "undecided"};
    const json* attribution = attribution_of(holder);
    const std::string side = attribution == nullptr ? "" : text_field(*attribution, "side");
    return std::ranges::count(sides, side) > 0 ? side : "";
}

std::string blame_sentence(const std::string& side) {
    return side == "subject" || side == "reference" ? "the " + side + " seems wrong"
           : side == "both"                         ? "both sides seem wrong"
           : side == "both legal"                   ? "both ways seem legal"
                                                    : "nothing tells which side is wrong";
}

std::vector<std::string> attribution_lines(const json& holder) {
    std::vector<std::string> lines;
    const json* attribution = attribution_of(holder);
    if (attribution == nullptr) {
        return lines;
    }
    lines.push_back(blame_sentence(blamed_side(holder)));
    const auto statements = attribution->find("voices");
    if (statements != attribution->end() && statements->is_array()) {
        for (const json& statement : *statements) {
            if (statement.is_object()) {
                lines.push_back(text_field(statement, "voice") + ": " +
                                text_field(statement, "words"));
            }
        }
    }
    return lines;
}

std::string attribution_text(const json& holder) {
    constexpr std::size_t max_bytes = 4'000;
    const std::vector<std::string> lines = attribution_lines(holder);
    std::string text;
    for (const std::string& line : lines.size() > 1 ? lines : std::vector<std::string>{}) {
        text += line + "\n";
    }
    return first_lines(text, max_bytes);
}

}  // namespace difffuzz

#include "tests/fuzz/seeds.hpp"

#include <algorithm>

namespace difffuzz::fuzz {

void add_prefixes(std::vector<Seed>& seeds, std::string valid, std::size_t count) {
    const std::size_t end = std::min(count, valid.size());
    for (std::size_t length = 0; length < end; ++length) {
        seeds.push_back({valid.substr(0, length), Verdict::refused});
    }
}

std::string with(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    require(at != std::string::npos, "a seed replaces what is there");
    return text.replace(at, from.size(), to);
}

std::string repeated(std::size_t count, char character) { return std::string(count, character); }

}  // namespace difffuzz::fuzz

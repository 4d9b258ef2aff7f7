#include "pickers/spelling.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace difffuzz {
namespace {

struct Suffix {
    unsigned shift;
    char upper;
    char lower;
};
constexpr std::array<Suffix, 4> suffixes{
    {{40, 'T', 't'}, {30, 'G', 'g'}, {20, 'M', 'm'}, {10, 'K', 'k'}}};

// Every way to write `bytes` as a multiple of an eighth of a unit, which a binary fraction holds
// exactly. A fraction needs a digit in front of its point before version 7.2.
std::vector<std::string> with_suffix(std::uint64_t bytes, bool upper, bool fractions) {
    std::vector<std::string> found;
    for (const Suffix& suffix : suffixes) {
        const std::uint64_t unit = std::uint64_t{1} << suffix.shift;
        const std::uint64_t whole = bytes / unit;
        const std::uint64_t rest = bytes % unit;
        const char letter = upper ? suffix.upper : suffix.lower;
        if (rest == 0 && bytes != 0) {
            found.push_back(fmt::format("{}{}", whole, letter));
        } else if (fractions && rest != 0 && rest % (unit / 8) == 0) {
            found.push_back(fmt::format("{}.{:03}{}", whole, rest / (unit / 8) * 125, letter));
        }
    }
    return found;
}

std::string draw_suffixed(const Draws& draws, std::uint64_t bytes, bool fractions) {
    const auto found = with_suffix(bytes, draws.chance("upper", 60), fractions);
    if (found.empty()) {
        return std::to_string(bytes);
    }
    return draws.pick("suffix", std::span<const std::string>(found));
}

enum class Spelling { decimal, suffix, fraction, hex, byte, zeros, sign, hex_suffix };

std::string spell(const Draws& draws, std::uint64_t bytes) {
    static constexpr Weighted<Spelling> kinds[] = {
        {Spelling::decimal, 25}, {Spelling::suffix, 30},   {Spelling::fraction, 20},
        {Spelling::hex, 8},      {Spelling::byte, 6},      {Spelling::zeros, 4},
        {Spelling::sign, 4},     {Spelling::hex_suffix, 1}};
    switch (draws.pick("spelling.kind", kinds)) {
        case Spelling::decimal:
            break;
        case Spelling::suffix:
            return draw_suffixed(draws, bytes, false);
        case Spelling::fraction:
            return draw_suffixed(draws, bytes, true);
        case Spelling::hex:
            return draws.chance("upper", 50) ? fmt::format("0X{:X}", bytes)
                                             : fmt::format("0x{:x}", bytes);
        case Spelling::byte:
            return fmt::format("{}{}", bytes, draws.chance("upper", 50) ? 'B' : 'b');
        case Spelling::zeros:
            return fmt::format("00{}", bytes);
        case Spelling::sign:
            return fmt::format("+{}", bytes);
        case Spelling::hex_suffix:
            if (bytes % 1024 == 0 && bytes != 0) {
                return fmt::format("0x{:x}k", bytes / 1024);
            }
            break;
    }
    return std::to_string(bytes);
}

}  // namespace

SizeValue draw_any_spelling(const Draws& draws, std::uint64_t bytes) {
    return {bytes, spell(draws, bytes)};
}

}  // namespace difffuzz

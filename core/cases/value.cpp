#include "core/cases/value.hpp"
#include "core/decimal.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace difffuzz {
namespace {

// Takes a suffix from the end of `text`: the power of two that it stands for, 0 for none.
unsigned take_suffix(std::string_view& text, bool hexadecimal) {
    static constexpr std::array<std::pair<char, unsigned>, 7> units{
        {{'b', 0}, {'k', 10}, {'m', 20}, {'g', 30}, {'t', 40}, {'p', 50}, {'e', 60}}};
    if (text.empty()) {
        return 0;
    }
    const char last = text.back();
    for (const auto& [letter, shift] : units) {
        const bool digit = hexadecimal && (letter == 'b' || letter == 'e');
        if (!digit && (last == letter || last == letter - 'a' + 'A')) {
            text.remove_suffix(1);
            return shift;
        }
    }
    return 0;
}

std::optional<std::uint64_t> parse_whole(std::string_view digits, int base) {
    std::uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value, base);
    if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != end) {
        return std::nullopt;
    }
    return value;
}

// 0.`digits` times 2 to the power of `shift` (at most 60), if that is whole: the fraction is
// doubled `shift` times in decimal, and what goes over its point is the result.
std::optional<std::uint64_t> scaled_fraction(std::string digits, unsigned shift) {
    if (digits.empty() || !std::ranges::all_of(digits, is_digit)) {
        return std::nullopt;
    }
    std::uint64_t whole = 0;
    for (unsigned i = 0; i < shift; ++i) {
        int carry = 0;
        for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
            const int twice = 2 * (*digit - '0') + carry;
            carry = twice / 10;
            *digit = static_cast<char>('0' + twice % 10);
        }
        whole = 2 * whole + static_cast<std::uint64_t>(carry);
    }
    if (digits.find_first_not_of('0') != std::string::npos) {
        return std::nullopt;
    }
    return whole;
}

}  // namespace

Value to_value(Scalar scalar) {
    return std::visit([](auto&& inner) -> Value { return std::forward<decltype(inner)>(inner); },
                      std::move(scalar));
}

SizeValue plain_size(std::uint64_t bytes) { return {bytes, std::to_string(bytes)}; }

SizeValue suffixed_size(std::uint64_t bytes) {
    static constexpr std::array<std::pair<unsigned, char>, 4> suffixes{
        {{40, 'T'}, {30, 'G'}, {20, 'M'}, {10, 'k'}}};
    for (const auto& [shift, letter] : suffixes) {
        const std::uint64_t unit = std::uint64_t{1} << shift;
        if (bytes != 0 && bytes % unit == 0) {
            return {bytes, std::to_string(bytes / unit) + letter};
        }
    }
    return plain_size(bytes);
}

std::optional<std::uint64_t> spelled_bytes(std::string_view as) {
    if (as.starts_with('+') || as.starts_with('-')) {
        as.remove_prefix(1);
    }
    const bool hexadecimal = as.starts_with("0x") || as.starts_with("0X");
    if (hexadecimal) {
        as.remove_prefix(2);
    }
    const unsigned shift = take_suffix(as, hexadecimal);
    const std::size_t point = hexadecimal ? std::string_view::npos : as.find('.');
    const auto whole = parse_whole(as.substr(0, point), hexadecimal ? 16 : 10);
    const auto part = point == std::string_view::npos
                          ? std::optional<std::uint64_t>(0)
                          : scaled_fraction(std::string(as.substr(point + 1)), shift);
    if (!whole || !part || *whole > (UINT64_MAX >> shift)) {
        return std::nullopt;
    }
    return (*whole << shift) + *part;
}

}  // namespace difffuzz

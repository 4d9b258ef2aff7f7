// Small changes of what a tool printed. Each says whether it found what it changes.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace difffuzz::canary {

inline bool replace_first(std::string& text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) {
        return false;
    }
    text.replace(at, from.size(), to);
    return true;
}

// A decimal number in a text.
struct NumberPlace {
    std::size_t at = 0;
    std::size_t length = 0;
    std::uint64_t value = 0;
};

// The first number that stands right behind `marker`.
inline std::optional<NumberPlace> number_after(std::string_view text, std::string_view marker) {
    const std::size_t found = text.find(marker);
    if (found == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t at = found + marker.size();
    NumberPlace place{at, 0, 0};
    const auto [end, error] =
        std::from_chars(text.data() + at, text.data() + text.size(), place.value);
    if (error != std::errc()) {
        return std::nullopt;
    }
    place.length = static_cast<std::size_t>(end - text.data()) - at;
    return place;
}

// Puts another number in its place.
inline void put_number(std::string& text, const NumberPlace& place, const std::string& number) {
    text.replace(place.at, place.length, number);
}

inline bool add_to_number(std::string& text, std::string_view marker, std::uint64_t more) {
    const auto place = number_after(text, marker);
    if (place) {
        put_number(text, *place, std::to_string(place->value + more));
    }
    return place.has_value();
}

inline std::string in_hex(std::uint64_t value) {
    char digits[16];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, 16);
    return "0x" + std::string(digits, end);
}

// Removes the last line of a text of at least `least` lines.
inline bool drop_last_line(std::string& text, std::size_t least) {
    std::size_t lines = 0;
    for (const char letter : text) {
        lines += letter == '\n' ? 1 : 0;
    }
    if (lines < least || !text.ends_with('\n')) {
        return false;
    }
    const std::size_t end = text.rfind('\n', text.size() - 2);
    text.resize(end == std::string::npos ? 0 : end + 1);
    return true;
}

}  // namespace difffuzz::canary

#include "oracles/sanitizer_text.hpp"
#include "core/decimal.hpp"

#include <cctype>
#include <string>
#include <string_view>

namespace difffuzz {
namespace {

// Addresses below this say something: null, and fields of a structure at null.
constexpr std::size_t telling_digits = 4;

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
// Length of "==DIGITS==" at `offset`, or 0.
std::size_t process_length(std::string_view text, std::size_t offset) {
    std::size_t end = offset + 2;
    while (end < text.size() && is_digit(text[end])) {
        ++end;
    }
    return end > offset + 2 && text.substr(end, 2) == "==" ? end + 2 - offset : 0;
}

// Length of "0xDIGITS" at `offset` where that is an address in memory, or 0. What follows a plus is
// an offset within a file.
std::size_t address_length(std::string_view text, std::size_t offset) {
    if (offset > 0 && (text[offset - 1] == '+' ||
                       std::isalnum(static_cast<unsigned char>(text[offset - 1])) != 0)) {
        return 0;
    }
    std::size_t end = offset + 2;
    while (end < text.size() && is_hex(text[end])) {
        ++end;
    }
    std::size_t first = offset + 2;
    while (first < end && text[first] == '0') {
        ++first;
    }
    return end - first > telling_digits ? end - offset : 0;
}

template <typename LengthAt>
void replace_all(std::string& text, std::string_view start, LengthAt length_at,
                 std::string_view replacement) {
    std::string result;
    std::size_t copied = 0;
    for (std::size_t found = text.find(start); found != std::string::npos;) {
        const std::size_t length = length_at(text, found);
        if (length > 0) {
            result.append(text, copied, found - copied).append(replacement);
            copied = found + length;
        }
        found = text.find(start, length > 0 ? copied : found + 1);
    }
    text = result.append(text, copied);
}

void apply_sanitizer_report(std::string& text) {
    if (text.find("Sanitizer") == std::string::npos &&
        text.find("runtime error: ") == std::string::npos) {
        return;
    }
    replace_all(text, "==", process_length, "==<pid>==");
    replace_all(text, "0x", address_length, "<address>");
}

}  // namespace

const TextNormaliser& sanitizer_report_text() {
    static const TextNormaliser normaliser{
        "sanitizer_report",
        "a sanitizer's report names the process and addresses in its memory, which differ from run "
        "to run",
        apply_sanitizer_report};
    return normaliser;
}

}  // namespace difffuzz

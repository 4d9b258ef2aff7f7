#include "oracles/shown_text.hpp"

#include <cstdint>

namespace difffuzz {
namespace {

constexpr std::string_view ellipsis = "…";

std::string hex_byte(unsigned char byte, std::string_view digits) {
    return {digits[byte >> 4U], digits[byte & 0xFU]};
}

std::string escaped(char character) {
    switch (character) {
        case '\\':
            return "\\\\";
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        default:
            return "\\x" + hex_byte(static_cast<unsigned char>(character), "0123456789ABCDEF");
    }
}

bool reorders_or_breaks(std::uint32_t code) {
    return (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::size_t printable_length(std::string_view bytes, std::size_t offset) {
    const auto at = [&](std::size_t index) { return static_cast<unsigned char>(bytes[index]); };
    const unsigned char lead = at(offset);
    if (lead < 0x80) {
        return lead >= 0x20 && lead != 0x7F ? 1 : 0;
    }
    const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                               : lead >= 0xE0 && lead <= 0xEF ? 3
                               : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                              : 0;
    if (length == 0 || offset + length > bytes.size()) {
        return 0;
    }
    std::uint32_t code = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        const unsigned char next = at(offset + i);
        if ((next & 0xC0U) != 0x80) {
            return 0;
        }
        code = (code << 6U) | (next & 0x3FU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    const bool control = code < 0xA0;
    if (overlong || surrogate || control || code > 0x10FFFF || reorders_or_breaks(code)) {
        return 0;
    }
    return length;
}

std::string shown_text(std::string_view bytes, std::size_t max_bytes) {
    std::string result;
    std::size_t last_cut = 0;  // longest prefix that leaves room for the ellipsis
    for (std::size_t offset = 0; offset < bytes.size();) {
        const std::size_t length = bytes[offset] == '\\' ? 0 : printable_length(bytes, offset);
        result += length == 0 ? escaped(bytes[offset]) : std::string(bytes.substr(offset, length));
        offset += length == 0 ? 1 : length;
        if (result.size() > max_bytes) {
            return result.substr(0, last_cut).append(ellipsis);
        }
        if (result.size() + ellipsis.size() <= max_bytes) {
            last_cut = result.size();
        }
    }
    return result;
}

std::string printable_text(std::string_view text) {
    std::string result;
    for (std::size_t offset = 0; offset < text.size();) {
        const std::size_t length = printable_length(text, offset);
        result += length == 0 ? escaped(text[offset]) : std::string(text.substr(offset, length));
        offset += length == 0 ? 1 : length;
    }
    return result;
}

std::string hex(std::string_view bytes) {
    std::string result;
    for (const char character : bytes) {
        result += hex_byte(static_cast<unsigned char>(character), "0123456789abcdef");
    }
    return result;
}

}  // namespace difffuzz

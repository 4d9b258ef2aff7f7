#include "images/utf16.hpp"

#include <cstdint>

#include "images/bytes.hpp"

namespace difffuzz {
namespace {

void append_utf8(std::uint32_t code, std::string& text) {
    const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0U | code >> 6U);
        put(0x80U | (code & 0x3fU));
    } else {
        put(0xe0U | code >> 12U);
        put(0x80U | (code >> 6U & 0x3fU));
        put(0x80U | (code & 0x3fU));
    }
}

}  // namespace

std::string from_utf16(std::span<const std::byte> bytes, bool big_endian) {
    std::string text;
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
        const auto unit = big_endian ? load_be<std::uint16_t>(bytes.data() + i)
                                     : load_le<std::uint16_t>(bytes.data() + i);
        if (unit == 0) {
            break;
        }
        append_utf8(unit, text);
    }
    return text;
}

}  // namespace difffuzz

#include "pickers/byte_names.hpp"

#include <algorithm>

namespace difffuzz {

Value byte_name(const std::string& name) {
    const bool plain =
        std::ranges::all_of(name, [](char byte) { return byte >= 0x20 && byte < 0x7f; });
    return plain ? Value{WordValue{name}} : Value{BytesValue{name}};
}

const std::string* byte_name_in(const Value& value) {
    if (const auto* word = std::get_if<WordValue>(&value)) {
        return &word->text;
    }
    const auto* bytes = std::get_if<BytesValue>(&value);
    return bytes == nullptr ? nullptr : &bytes->bytes;
}

}  // namespace difffuzz

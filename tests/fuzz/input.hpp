// Little-endian fields at the start of an input, both ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "images/bytes.hpp"

namespace difffuzz::fuzz {

// Takes a field off the front of `input`; nothing where it is too short, and then takes nothing.
template <typename T>
std::optional<T> take(std::string_view& input) {
    if (input.size() < sizeof(T)) {
        return std::nullopt;
    }
    const T value = load_le<T>(reinterpret_cast<const std::byte*>(input.data()));
    input.remove_prefix(sizeof(T));
    return value;
}

template <typename T>
void put(std::string& output, T value) {
    const std::size_t at = output.size();
    output.resize(at + sizeof(T));
    store_le(reinterpret_cast<std::byte*>(output.data()) + at, value);
}

}  // namespace difffuzz::fuzz

// Integers in image metadata: explicit byte order, no alignment.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace difffuzz {

template <typename T>
T swap_bytes(T value) {
    if constexpr (sizeof(T) == 8) {
        return __builtin_bswap64(value);
    } else if constexpr (sizeof(T) == 4) {
        return __builtin_bswap32(value);
    } else if constexpr (sizeof(T) == 2) {
        return __builtin_bswap16(value);
    } else {
        static_assert(sizeof(T) == 1);
        return value;
    }
}

template <typename T>
T in_order(T value, std::endian order) {
    return std::endian::native == order ? value : swap_bytes(value);
}

// `T` is an unsigned integer; `at` points to at least sizeof(T) bytes.
template <typename T>
T load_be(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return in_order(value, std::endian::big);
}

template <typename T>
T load_le(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return in_order(value, std::endian::little);
}

template <typename T>
void store_be(std::byte* at, T value) {
    value = in_order(value, std::endian::big);
    std::memcpy(at, &value, sizeof(T));
}

template <typename T>
void store_le(std::byte* at, T value) {
    value = in_order(value, std::endian::little);
    std::memcpy(at, &value, sizeof(T));
}

// `value` rounded up to a multiple of `unit` (above 0); the caller rules out overflow.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t unit) {
    return value / unit + (value % unit != 0 ? 1 : 0);
}

}  // namespace difffuzz

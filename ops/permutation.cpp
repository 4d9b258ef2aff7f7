#include "ops/permutation.hpp"

#include <array>
#include <cassert>

#include <xxhash.h>

namespace difffuzz {
namespace {

std::uint64_t round_of(std::uint64_t key, std::uint64_t round, std::uint64_t half) {
    // Little-endian, so that it is the same on every machine.
    std::array<unsigned char, 16> bytes{};
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[i] = static_cast<unsigned char>(half >> (8 * i));
        bytes[8 + i] = static_cast<unsigned char>(round >> (8 * i));
    }
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), key);
}

}  // namespace

std::uint64_t permuted(std::uint64_t index, std::uint64_t size, std::uint64_t key) {
    assert(index < size);
    unsigned bits = 1;
    while (bits < 32 && (std::uint64_t{1} << (2 * bits)) < size) {
        ++bits;
    }
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    do {
        std::uint64_t left = index >> bits;
        std::uint64_t right = index & mask;
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t next = left ^ (round_of(key, round, right) & mask);
            left = right;
            right = next;
        }
        index = left << bits | right;
    } while (index >= size);
    return index;
}

}  // namespace difffuzz

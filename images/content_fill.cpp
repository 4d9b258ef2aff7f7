#include "images/content_fill.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "images/bytes.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

// One step of splitmix64 from state `state`.
std::uint64_t splitmix64(std::uint64_t state) {
    std::uint64_t z = state + golden;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
    return z ^ (z >> 31U);
}

void fill_random(std::uint64_t seed, std::uint64_t offset, std::span<std::byte> bytes) {
    std::uint64_t state = seed + golden * (offset / 8);
    const auto partial_word = [&](std::size_t skip) {
        std::array<std::byte, 8> word;
        store_le(word.data(), splitmix64(state));
        state += golden;
        const std::size_t length = std::min(word.size() - skip, bytes.size());
        std::memcpy(bytes.data(), word.data() + skip, length);
        bytes = bytes.subspan(length);
    };
    if (offset % 8 != 0 && !bytes.empty()) {
        partial_word(offset % 8);
    }
    std::byte* at = bytes.data();
    std::byte* const stop = at + bytes.size() / 8 * 8;
    for (; at != stop; at += 8, state += golden) {
        store_le(at, splitmix64(state));
    }
    bytes = bytes.last(bytes.size() % 8);
    if (!bytes.empty()) {
        partial_word(0);
    }
}

void fill_repeated(const RepeatFill& fill, std::uint64_t offset, std::span<std::byte> bytes) {
    assert(fill.period >= 1 && fill.period <= 4096);
    std::array<std::byte, 4096> unit;
    fill_random(fill.seed, 0, std::span(unit).first(fill.period));
    std::size_t position = offset % fill.period;
    while (!bytes.empty()) {
        const std::size_t length = std::min<std::size_t>(fill.period - position, bytes.size());
        std::memcpy(bytes.data(), unit.data() + position, length);
        bytes = bytes.subspan(length);
        position = 0;
    }
}

}  // namespace

void fill_bytes(const Fill& fill, std::uint64_t offset, std::span<std::byte> bytes) {
    if (const auto* byte = std::get_if<ByteFill>(&fill)) {
        std::ranges::fill(bytes, std::byte{byte->byte});
    } else if (const auto* random = std::get_if<RandomFill>(&fill)) {
        fill_random(random->seed, offset, bytes);
    } else {
        fill_repeated(std::get<RepeatFill>(fill), offset, bytes);
    }
}

}  // namespace difffuzz

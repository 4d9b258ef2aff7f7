#include "core/cases/draws.hpp"

#include <algorithm>
#include <array>

#include <xxhash.h>

#include "core/decimal.hpp"

namespace difffuzz {
namespace {

// Little-endian, so that the key is the same on every machine.
void append(std::array<unsigned char, 32>& bytes, std::size_t& at, std::uint64_t value,
            std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        bytes[at++] = static_cast<unsigned char>(value >> (8 * i));
    }
}

}  // namespace

DrawState Draws::start(std::uint64_t seed, std::uint64_t index, std::uint32_t attempt,
                       const Pins* pins, std::uint32_t retry) {
    std::array<unsigned char, 32> bytes{};
    std::size_t at = 0;
    append(bytes, at, generator_version, 8);
    append(bytes, at, seed, 8);
    append(bytes, at, index, 8);
    append(bytes, at, attempt, 4);
    append(bytes, at, retry, 4);
    return DrawState{XXH3_64bits(bytes.data(), bytes.size()), pins, {}, nullptr};
}

Draws Draws::scope(std::string_view name) const { return Draws(*state_, path(name)); }

std::uint64_t Draws::bits(std::string_view name) const {
    return between(name, 0, ~std::uint64_t{0});
}

std::uint64_t Draws::between(std::string_view name, std::uint64_t low, std::uint64_t high) const {
    assert(low <= high);
    if (const std::string* pinned = pin(name)) {
        const auto value = parse_decimal(*pinned);
        if (!value || *value < low || *value > high) {
            throw_bad_pin(name, *pinned);
        }
        return *value;
    }
    const std::uint64_t width = high - low;
    if (width == ~std::uint64_t{0}) {
        return number(name);
    }
    return low + reduce(number(name), width + 1);
}

bool Draws::chance(std::string_view name, unsigned percent) const {
    if (const std::string* pinned = pin(name)) {
        if (*pinned != "true" && *pinned != "false") {
            throw_bad_pin(name, *pinned);
        }
        return *pinned == "true";
    }
    return (percent != 0 && wishes(name)) || reduce(number(name), 100) < percent;
}

std::uint64_t Draws::reduce(std::uint64_t number, std::uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(number) * n) >> 64);
}

std::string Draws::path(std::string_view name) const {
    if (prefix_.empty()) {
        return std::string(name);
    }
    std::string result;
    result.reserve(prefix_.size() + 1 + name.size());
    return result.append(prefix_).append(1, '.').append(name);
}

std::uint64_t Draws::number(std::string_view name) const {
    const std::string full = path(name);
    return XXH3_64bits_withSeed(full.data(), full.size(), state_->key);
}

const std::string* Draws::pin(std::string_view name) const {
    if (state_->pins == nullptr || state_->pins->empty()) {
        return nullptr;
    }
    const auto found = state_->pins->find(path(name));
    if (found == state_->pins->end()) {
        return nullptr;
    }
    state_->used_pins.insert(found->first);
    return &found->second;
}

bool Draws::wishes(std::string_view name) const {
    return state_->wish != nullptr &&
           std::ranges::any_of(state_->wish->paths, [&](const std::string& end) {
               return name.ends_with(end) &&
                      (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
           });
}

bool Draws::wishes_near(std::string_view name) const {
    if (state_->wish == nullptr) {
        return false;
    }
    const std::string_view prefix = prefix_;
    return wishes(name) || std::ranges::any_of(state_->wish->paths, [&](const std::string& end) {
               return prefix.ends_with(end) || (name.starts_with(end) && name.size() > end.size() &&
                                                name[end.size()] == '.');
           });
}

bool Draws::wishes_word(std::string_view word) const {
    return std::ranges::find(state_->wish->words, word) != state_->wish->words.end();
}

void Draws::throw_bad_pin(std::string_view name, const std::string& pinned) const {
    throw PinError("the draw " + path(name) + " cannot be pinned at '" + pinned +
                   "': it is not a value that this draw can give");
}

void require_pins_used(const DrawState& state) {
    if (state.pins == nullptr) {
        return;
    }
    for (const auto& [path, value] : *state.pins) {
        if (!state.used_pins.contains(path)) {
            throw PinError("no draw of this case has the path " + path +
                           "; 'difffuzz draw' shows a case, docs/determinism.md the paths");
        }
    }
}

}  // namespace difffuzz

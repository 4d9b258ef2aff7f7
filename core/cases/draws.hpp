// Random choices of a case: each has a stable path, so that adding one moves no other.
#pragma once

#include <cassert>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace difffuzz {

// Raised by every change that moves a case (the golden test tells); part of the stream's key.
inline constexpr std::uint32_t generator_version = 5;

// Draw paths that are held at a value ("step[0].arg[-d]" -> "1"), spelled as spell_draw() does.
using Pins = std::map<std::string, std::string>;

// A pin that its draw cannot take, or that no draw asked for.
class PinError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// What a case is wished to hold. Draws lean towards it wherever they can; nothing is promised.
struct DrawWish {
    // Ends of paths ("arg[-S]", "snapshots"): a chance there is taken, and of several values each
    // is as likely as the others.
    std::vector<std::string> paths;
    // Words ("vhdx", "-a"): given mostly where they are among those to pick from.
    std::vector<std::string> words;
};

struct DrawState {
    std::uint64_t key = 0;
    const Pins* pins = nullptr;
    std::set<std::string> used_pins;
    const DrawWish* wish = nullptr;
};

template <typename T>
struct Weighted {
    T value;
    unsigned weight;
};

inline std::string spell_draw(std::string_view value) { return std::string(value); }
inline std::string spell_draw(bool value) { return value ? "true" : "false"; }
template <typename T>
requires((std::is_integral_v<T> && !std::is_same_v<T, bool>) || std::is_enum_v<T>) std::string
    spell_draw(T value) {
    if constexpr (std::is_enum_v<T>) {
        return std::to_string(static_cast<std::underlying_type_t<T>>(value));
    } else {
        return std::to_string(value);
    }
}

// A counter-based stream: the number at a path is XXH3-64(path) keyed with XXH3-64(generator
// version, seed, index, attempt, retry), and nothing else. No state moves; drawing the same path
// twice gives the same number, so each draw of a case uses a path of its own. Cheap to copy;
// `state` outlives all copies.
class Draws {
public:
    explicit Draws(DrawState& state) : state_(&state) {}

    static DrawState start(std::uint64_t seed, std::uint64_t index, std::uint32_t attempt,
                           const Pins* pins = nullptr, std::uint32_t retry = 0);

    // The same stream below `name`: paths of the result begin with "<prefix>.<name>".
    Draws scope(std::string_view name) const;

    // 64 uniform bits.
    std::uint64_t bits(std::string_view name) const;
    // Uniform in [low, high]; low <= high. (Multiply-high reduction; the bias is below 2^-32 for
    // the ranges used here.)
    std::uint64_t between(std::string_view name, std::uint64_t low, std::uint64_t high) const;
    // True with `percent` (0..100) per cent.
    bool chance(std::string_view name, unsigned percent) const;

    // One of `values`, uniformly.
    template <typename T>
    const T& pick(std::string_view name, std::span<const T> values) const {
        assert(!values.empty());
        if (const std::string* pinned = pin(name)) {
            for (const T& value : values) {
                if (spell_draw(value) == *pinned) {
                    return value;
                }
            }
            throw_bad_pin(name, *pinned);
        }
        if constexpr (std::is_convertible_v<const T&, std::string_view>) {
            if (const T* wished =
                    wished_of<T>(name, values.size(), [&](std::size_t i) { return &values[i]; })) {
                return *wished;
            }
        }
        return values[reduce(number(name), values.size())];
    }
    template <typename T, std::size_t n>
    const T& pick(std::string_view name, const T (&values)[n]) const {
        return pick(name, std::span<const T>(values));
    }
    // One of `values` by weight; the sum of weights is above 0.
    template <typename T>
    const T& pick(std::string_view name, std::span<const Weighted<T>> values) const {
        if (const std::string* pinned = pin(name)) {
            for (const Weighted<T>& item : values) {
                if (spell_draw(item.value) == *pinned) {
                    return item.value;
                }
            }
            throw_bad_pin(name, *pinned);
        }
        std::uint64_t sum = 0;
        for (const Weighted<T>& item : values) {
            sum += item.weight;
        }
        assert(sum > 0);
        if constexpr (std::is_convertible_v<const T&, std::string_view>) {
            if (const T* wished = wished_of<T>(name, values.size(), [&](std::size_t i) {
                    return values[i].weight == 0 ? nullptr : &values[i].value;
                })) {
                return *wished;
            }
        }
        if (wishes_near(name)) {
            return values[reduce(number(name), values.size())].value;
        }
        std::uint64_t point = reduce(number(name), sum);
        for (const Weighted<T>& item : values) {
            if (point < item.weight) {
                return item.value;
            }
            point -= item.weight;
        }
        return values.back().value;
    }
    template <typename T, std::size_t n>
    const T& pick(std::string_view name, const Weighted<T> (&values)[n]) const {
        return pick(name, std::span<const Weighted<T>>(values));
    }

private:
    Draws(DrawState& state, std::string prefix) : state_(&state), prefix_(std::move(prefix)) {}

    static std::uint64_t reduce(std::uint64_t number, std::uint64_t n);
    std::string path(std::string_view name) const;
    std::uint64_t number(std::string_view name) const;
    const std::string* pin(std::string_view name) const;
    // Whether the wish names the end of this path; of this path, or of one that it lies below.
    bool wishes(std::string_view name) const;
    bool wishes_near(std::string_view name) const;
    bool wishes_word(std::string_view word) const;
    // One of the values that the wish names; mostly, so that what they exclude is drawn as well.
    // Null where there is none, or they are passed over. `value_at` gives null for what cannot be.
    template <typename T, typename At>
    const T* wished_of(std::string_view name, std::size_t count, At value_at) const {
        constexpr std::uint64_t pass_over = 8;  // one in so many
        if (state_->wish == nullptr || number(name) % pass_over == 0) {
            return nullptr;
        }
        std::vector<const T*> wished;
        for (std::size_t i = 0; i < count; ++i) {
            const T* value = value_at(i);
            if (value != nullptr && wishes_word(*value)) {
                wished.push_back(value);
            }
        }
        return wished.empty() ? nullptr : wished[reduce(number(name), wished.size())];
    }
    [[noreturn]] void throw_bad_pin(std::string_view name, const std::string& pinned) const;

    DrawState* state_;
    std::string prefix_;
};

// Throws PinError naming the first pin that no draw used.
void require_pins_used(const DrawState& state);

}  // namespace difffuzz

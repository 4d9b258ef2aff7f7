// Coverage-guided targets over difffuzz's own code. A target is one file in targets/, which says
// its invariants at its top, and one row in targets.cpp. libFuzzer (fuzzer.cpp) and the replay of
// the committed corpus (replay_test.cpp) call the same function.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace difffuzz::fuzz {

// What the code under test made of an input; either is fine for any bytes.
enum class Verdict { accepted, refused };

// An invariant does not hold: the message names it. Not to be caught by targets.
class BrokenInvariant : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

// Throws BrokenInvariant with `invariant` unless it holds.
inline void require(bool holds, const char* invariant) {
    if (!holds) {
        throw BrokenInvariant(invariant);
    }
}

struct Seed {
    std::string bytes;
    Verdict expected = Verdict::accepted;
};

// How a night's time is shared: arithmetic is soon exhausted and gets a fixed part.
enum class Tier { arithmetic, rest };

struct Target {
    std::string_view name;  // also of targets/NAME.cpp, corpus/NAME/ and the program fuzz_NAME
    Tier tier = Tier::rest;
    // Checks every invariant of the target on any bytes whatever. Throws BrokenInvariant.
    Verdict (*run)(std::string_view input) = nullptr;
    // What corpus/NAME/seed-000, seed-001, … hold, in order. Pure; new ones are added at the end.
    std::vector<Seed> (*seeds)() = nullptr;
};

inline constexpr std::size_t max_input_bytes = 8192;

std::span<const Target> targets();
// Null when unknown.
const Target* find_target(std::string_view name);

std::string_view to_string(Tier tier);

}  // namespace difffuzz::fuzz

#include "campaign/again_sample.hpp"

#include <string>

#include "core/errors.hpp"

namespace difffuzz {
namespace {

constexpr Determinism all_modes[] = {Determinism::off, Determinism::sample, Determinism::all};

// Spreads neighbouring indices (the finaliser of MurmurHash3's 64-bit variant): which cases are
// steered, and of which shard they are, depends on simple remainders.
std::uint64_t spread(std::uint64_t index) {
    index ^= index >> 33;
    index *= 0xff51afd7ed558ccdULL;
    index ^= index >> 33;
    index *= 0xc4ceb9fe1a85ec53ULL;
    return index ^ (index >> 33);
}

}  // namespace

std::string_view to_string(Determinism determinism) {
    switch (determinism) {
        case Determinism::off:
            return "off";
        case Determinism::sample:
            return "sample";
        case Determinism::all:
            return "all";
    }
    return "off";
}

Determinism parse_determinism(std::string_view word) {
    for (const Determinism determinism : all_modes) {
        if (to_string(determinism) == word) {
            return determinism;
        }
    }
    throw UsageError("--determinism takes off, sample or all, not '" +
                     std::string(word.substr(0, 80)) + "'");
}

Again again_of(Determinism determinism, std::uint64_t index) {
    const std::uint64_t number = spread(index + 1);
    if (determinism == Determinism::off ||
        (determinism == Determinism::sample && number % sampled_one_in != 0)) {
        return Again::no;
    }
    return number / sampled_one_in % later_one_in == 0 ? Again::later_second : Again::at_once;
}

}  // namespace difffuzz

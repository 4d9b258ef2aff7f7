// A probe: a case that a person wrote by hand, with values that may be left open. docs/probes.md
// and docs/probe.schema.json describe the file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/cases/case.hpp"
#include "core/cases/draws.hpp"

namespace difffuzz {

inline constexpr std::string_view probe_schema = "difffuzz.probe/1";

// What a value that is left open may become: one of `values`, or a number from `low` to `high` that
// is a multiple of `step`.
struct OpenValue {
    std::vector<nlohmann::json> values;  // empty: a number
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t step = 1;
};

struct Probe {
    // A recipe in which {"draw": NAME} may stand for any value of `open`; null for a probe that is
    // drawn.
    nlohmann::json recipe;
    std::map<std::string, OpenValue> open;
    // Else the operation whose picker draws the case, with some draws held.
    std::string operation;
    Pins pins;

    // Whether another index can give another case.
    bool is_open() const { return recipe.is_null() || !open.empty(); }
};

// Also takes a bare recipe. Throws RecipeError (pointer and reason).
Probe parse_probe(std::string_view text);

// The case of an index: a pure function of generator version, probe, seed and index. Where
// something is left open, the first of 32 attempts that lies inside its operation's envelope and
// has all draws that are pinned. Throws RecipeError where there is none, or for what is no recipe.
Case case_of(const Probe& probe, std::uint64_t seed, std::uint64_t index);

}  // namespace difffuzz

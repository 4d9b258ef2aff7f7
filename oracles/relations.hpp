// Relations: what must fit together in all that one tool says and writes in a case, whatever
// another tool does. Each is a pure function of one side's observation.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

#include "oracles/layer.hpp"

namespace difffuzz {

// One side of a comparison, up to the compared step, which this side did.
struct OneSide {
    const Comparison& comparison;
    const Observation& observation;

    const Step& step() const { return comparison.c.steps.at(comparison.step); }
    const StepObservation& seen() const { return observation.steps.at(comparison.step); }
};

// What a relation found: whether it holds, and the numbers that it is about, for the details.
struct RelationState {
    bool holds = true;
    nlohmann::json numbers;
};

struct Relation {
    std::string_view name;     // the symptom's field
    std::string_view purpose;  // one sentence
    // Nothing where the step has nothing that the relation is about.
    std::optional<RelationState> (*look)(const OneSide& side);
};

// All relations, in a fixed order.
std::span<const Relation> relations();

}  // namespace difffuzz

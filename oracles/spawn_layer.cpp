#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"

namespace difffuzz {

LayerResult compare_spawn(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (sides->subject_class == OutcomeClass::not_started ||
        sides->reference_class == OutcomeClass::not_started) {
        return LayerResult::inconclusive(std::string(reason::not_started));
    }
    return LayerResult::agree();
}

}  // namespace difffuzz

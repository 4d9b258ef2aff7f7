#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/resource_limits.hpp"

namespace difffuzz {

LayerResult compare_timeout(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (sides->subject_class == OutcomeClass::timed_out ||
        sides->reference_class == OutcomeClass::timed_out) {
        return LayerResult::inconclusive(std::string(reason::external_timeout));
    }
    if (limit_of_subject_alone(comparison, *sides)) {
        return LayerResult::agree();
    }
    for (const StepObservation* side : {&sides->subject, &sides->reference}) {
        if (const auto* limited = std::get_if<Limited>(&side->outcome.ending)) {
            return LayerResult::inconclusive("limited(" + std::string(to_string(limited->which)) +
                                             ")");
        }
    }
    return LayerResult::agree();
}

}  // namespace difffuzz

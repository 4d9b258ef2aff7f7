#include <algorithm>
#include <utility>

#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/self_difference.hpp"

namespace difffuzz {
namespace {

bool has_run(const Observation* again, std::size_t step) {
    return again != nullptr && step < again->steps.size();
}

bool ended_by_itself(const StepObservation& step) {
    switch (outcome_class(step.outcome.ending)) {
        case OutcomeClass::succeeded:
        case OutcomeClass::refused:
        case OutcomeClass::crashed:
            return true;
        default:
            return false;
    }
}

// Whether the reference does not repeat this either: seen in this case, or known from others.
bool reference_varies_too(const Comparison& comparison, std::string_view aspect) {
    if (comparison.reference_varies != nullptr &&
        std::ranges::count(*comparison.reference_varies,
                           varying_name(comparison.c.steps[comparison.step].operation, aspect)) >
            0) {
        return true;
    }
    if (!has_run(comparison.reference_again, comparison.step)) {
        return false;
    }
    const auto of_reference =
        self_difference(comparison, comparison.reference, *comparison.reference_again);
    return of_reference && of_reference->aspect == aspect;
}

}  // namespace

LayerResult compare_determinism(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (!has_run(comparison.subject_again, comparison.step)) {
        return LayerResult::not_applicable(std::string(reason::not_run_again));
    }
    // A limit of ours, or the machine, ended one of the runs: that tells nothing about the tool.
    if (!ended_by_itself(sides->subject) ||
        !ended_by_itself(comparison.subject_again->steps[comparison.step])) {
        return LayerResult::not_applicable(std::string(reason::no_ending_again));
    }
    const auto found = self_difference(comparison, comparison.subject, *comparison.subject_again);
    if (!found) {
        return LayerResult::agree();
    }
    if (reference_varies_too(comparison, found->aspect)) {
        return LayerResult::not_applicable(std::string(reason::reference_varies));
    }
    // No message: what one run said is not what the next one says.
    Difference difference = start_difference(comparison, *sides, LayerId::determinism,
                                             Direction::subject, Severity::nondeterminism);
    difference.symptom.field = found->aspect;
    difference.details = {{"differs", found->aspect},
                          {"step", comparison.step},
                          {"first", found->first},
                          {"again", found->again}};
    return LayerResult::diverge(std::move(difference));
}

}  // namespace difffuzz

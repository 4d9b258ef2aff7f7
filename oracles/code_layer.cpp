#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"

namespace difffuzz {

LayerResult compare_code(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (!sides->ended_alike()) {
        return LayerResult::not_applicable(std::string(reason::classes_differ));
    }
    const int subject = std::get<Exited>(sides->subject.outcome.ending).code;
    const int reference = std::get<Exited>(sides->reference.outcome.ending).code;
    if (subject == reference) {
        return LayerResult::agree();
    }
    // Two refusals with other codes are a detail; two answers with other codes are other answers.
    const Severity severity =
        sides->both(OutcomeClass::succeeded) ? Severity::disagreement : Severity::detail;
    Difference difference =
        start_difference(comparison, *sides, LayerId::code, Direction::differ, severity);
    difference.symptom.field = "code";
    // What both say alike is about the case, and the code is wrong whatever it is.
    const std::string subject_message =
        template_of(comparison, core_message(comparison, sides->subject));
    const std::string reference_message =
        template_of(comparison, core_message(comparison, sides->reference));
    if (subject_message != reference_message) {
        difference.symptom.subject_message = subject_message;
        difference.symptom.reference_message = reference_message;
    }
    difference.details["subject"] = subject;
    difference.details["reference"] = reference;
    return LayerResult::diverge(std::move(difference));
}

}  // namespace difffuzz

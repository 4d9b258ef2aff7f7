#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

nlohmann::json details_of(const std::string& message, const StepObservation& side) {
    return {{"code", std::get<Exited>(side.outcome.ending).code},
            {"message", shown_text(message, max_shown_message)}};
}

}  // namespace

LayerResult compare_exit(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (sides->ended_alike()) {
        return LayerResult::agree();
    }
    const auto exited = [](const StepObservation& side) {
        return std::holds_alternative<Exited>(side.outcome.ending);
    };
    if (!exited(sides->subject) || !exited(sides->reference)) {
        return LayerResult::not_applicable(std::string(reason::no_ending));
    }
    const bool subject_refused = sides->subject_class == OutcomeClass::refused;
    Difference difference = start_difference(
        comparison, *sides, LayerId::exit,
        subject_refused ? Direction::subject : Direction::reference, Severity::disagreement);
    const std::string subject = core_message(comparison, sides->subject);
    const std::string reference = core_message(comparison, sides->reference);
    difference.symptom.field = "class";
    difference.symptom.subject_message = template_of(comparison, subject);
    difference.symptom.reference_message = template_of(comparison, reference);
    difference.details["subject"] = details_of(subject, sides->subject);
    difference.details["reference"] = details_of(reference, sides->reference);
    return LayerResult::diverge(std::move(difference));
}

}  // namespace difffuzz

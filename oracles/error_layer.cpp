#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/needed_normalisers.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

bool contain_one_another(const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty() &&
           (a.find(b) != std::string::npos || b.find(a) != std::string::npos);
}

}  // namespace

LayerResult compare_error(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (!sides->both(OutcomeClass::refused)) {
        return LayerResult::not_applicable(std::string(reason::not_both_refused));
    }
    const std::string subject = core_message(comparison, sides->subject);
    const std::string reference = core_message(comparison, sides->reference);
    if (subject.empty() && reference.empty()) {
        return LayerResult::not_applicable(std::string(reason::nothing_printed));
    }
    if (contain_one_another(subject, reference)) {
        return LayerResult::agree(needed_for_text(comparison, raw_core_message(sides->subject),
                                                  raw_core_message(sides->reference),
                                                  contain_one_another));
    }
    Difference difference =
        start_difference(comparison, *sides, LayerId::error, Direction::differ, Severity::detail);
    difference.symptom.field = subject.empty() || reference.empty() ? "silent" : "message";
    difference.symptom.subject_message = template_of(comparison, subject);
    difference.symptom.reference_message = template_of(comparison, reference);
    difference.details["subject"] = shown_text(subject, max_shown_message);
    difference.details["reference"] = shown_text(reference, max_shown_message);
    return LayerResult::diverge(std::move(difference));
}

}  // namespace difffuzz

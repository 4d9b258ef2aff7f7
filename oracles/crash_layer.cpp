#include "oracles/comparing.hpp"
#include "oracles/crash_sign.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/message_template.hpp"
#include "oracles/sanitizer_text.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_shown_line = 400;

// What the side that did not crash said is no part of why the other one did.
std::string message_of(const Comparison& comparison, const StepObservation& side,
                       const std::optional<CrashSign>& sign) {
    if (!sign) {
        return {};
    }
    const std::string_view argv0 = side.argv.empty() ? std::string_view() : side.argv[0];
    const std::string line(strip_tool_prefix(sign->line, argv0));
    const bool both = !sign->signal.empty() && !line.empty();
    return template_of(comparison, sign->signal + (both ? ": " : "") + without_harness(line));
}

nlohmann::json details_of(const std::optional<CrashSign>& sign) {
    if (!sign) {
        return nullptr;
    }
    std::string line = without_harness(sign->line);
    sanitizer_report_text().apply(line);
    return {{"kind", sign->field},
            {"signal", sign->signal},
            {"line", shown_text(line, max_shown_line)}};
}

}  // namespace

LayerResult compare_crash(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    const auto ended = [](OutcomeClass outcome) {
        return outcome == OutcomeClass::succeeded || outcome == OutcomeClass::refused ||
               outcome == OutcomeClass::crashed;
    };
    if (!ended(sides->subject_class) || !ended(sides->reference_class)) {
        return LayerResult::not_applicable(std::string(reason::no_ending));
    }
    const auto subject = crash_sign(sides->subject.outcome);
    const auto reference = crash_sign(sides->reference.outcome);
    if (!subject && !reference) {
        return LayerResult::agree();
    }
    const Direction direction = subject && reference ? Direction::both
                                : subject            ? Direction::subject
                                                     : Direction::reference;
    Difference difference =
        start_difference(comparison, *sides, LayerId::crash, direction,
                         subject && !reference ? Severity::crash : Severity::reference);
    difference.symptom.field = subject ? subject->field : reference->field;
    difference.symptom.subject_message = message_of(comparison, sides->subject, subject);
    difference.symptom.reference_message = message_of(comparison, sides->reference, reference);
    difference.details["subject"] = details_of(subject);
    difference.details["reference"] = details_of(reference);
    return LayerResult::diverge(std::move(difference));
}

}  // namespace difffuzz

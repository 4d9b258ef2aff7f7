#include "oracles/comparing.hpp"

#include <utility>

#include "oracles/json_diff.hpp"
#include "oracles/message_template.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {

std::optional<Sides> sides_of(const Comparison& comparison) {
    if (comparison.step >= comparison.subject.steps.size() ||
        comparison.step >= comparison.reference.steps.size()) {
        return std::nullopt;
    }
    const StepObservation& subject = comparison.subject.steps[comparison.step];
    const StepObservation& reference = comparison.reference.steps[comparison.step];
    return Sides{subject, reference, step_class(subject, comparison.answer_codes),
                 step_class(reference, comparison.answer_codes)};
}

Difference start_difference(const Comparison& comparison, const Sides& sides, LayerId layer,
                            Direction direction, Severity severity) {
    Difference difference;
    difference.symptom.operation = comparison.c.steps.at(comparison.step).operation;
    difference.symptom.layer = layer;
    difference.symptom.layer_name = to_string(layer);
    difference.symptom.direction = direction;
    difference.symptom.subject_class = to_string(sides.subject_class);
    difference.symptom.reference_class = to_string(sides.reference_class);
    difference.severity = severity;
    difference.details = nlohmann::json::object();
    return difference;
}

std::string without_harness(std::string text) {
    harness_path_text().apply(text);
    node_name_text().apply(text);
    return text;
}

std::string normalised(const Comparison& comparison, std::string text) {
    text = without_harness(std::move(text));
    for (const TextNormaliser* normaliser : comparison.text_normalisers) {
        normaliser->apply(text);
    }
    return text;
}

std::string core_message(const Comparison& comparison, const StepObservation& side) {
    const std::string_view argv0 = side.argv.empty() ? std::string_view() : side.argv[0];
    const std::string_view line = first_line(side.outcome.err.head);
    return normalised(comparison, std::string(strip_tool_prefix(line, argv0)));
}

std::string template_of(const Comparison& comparison, std::string_view message) {
    return message_template(message, case_file_names(comparison.c));
}

bool stdout_is_json(const Comparison& comparison, const Sides& sides) {
    const std::string& subject = sides.subject.outcome.out.head;
    const std::string& reference = sides.reference.outcome.out.head;
    const bool subject_looks = looks_like_json(subject);
    const bool reference_looks = looks_like_json(reference);
    const auto* asked = option_value<WordValue>(comparison.c.steps.at(comparison.step), "--output");
    if (asked != nullptr && asked->text == "json") {
        return subject_looks || reference_looks;
    }
    const auto is_json = [](const Stream& stream) {
        return !stream.cut() && parse_output(stream_text(stream)).form != JsonForm::malformed;
    };
    return subject_looks && reference_looks && is_json(sides.subject.outcome.out) &&
           is_json(sides.reference.outcome.out);
}

}  // namespace difffuzz

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

std::vector<const TextNormaliser*> text_chain(const Comparison& comparison) {
    std::vector<const TextNormaliser*> chain{&harness_path_text(), &node_name_text()};
    chain.insert(chain.end(), comparison.text_normalisers.begin(),
                 comparison.text_normalisers.end());
    return chain;
}

std::string normalised(const Comparison& comparison, std::string text) {
    for (const TextNormaliser* normaliser : text_chain(comparison)) {
        normaliser->apply(text);
    }
    return text;
}

std::string_view raw_core_message(const StepObservation& side) {
    const std::string_view argv0 = side.argv.empty() ? std::string_view() : side.argv[0];
    return strip_tool_prefix(first_line(side.outcome.err.head), argv0);
}

std::string core_message(const Comparison& comparison, const StepObservation& side) {
    return normalised(comparison, std::string(raw_core_message(side)));
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

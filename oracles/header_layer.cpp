#include <functional>

#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/needed_normalisers.hpp"
#include "oracles/shown_text.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_shown_line = 400;

// The first line with its line end, so that a line that is not ended differs from one that is;
// empty optional when the kept part of the stream does not hold all of it.
std::optional<std::string> header_of(const Stream& stream) {
    const std::size_t end = stream.head.find('\n');
    if (end == std::string::npos && stream.cut()) {
        return std::nullopt;
    }
    return end == std::string::npos ? stream_text(stream) : stream.head.substr(0, end + 1);
}

}  // namespace

LayerResult compare_header(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (!sides->ended_alike()) {
        return LayerResult::not_applicable(std::string(reason::classes_differ));
    }
    const Stream& subject_out = sides->subject.outcome.out;
    const Stream& reference_out = sides->reference.outcome.out;
    if (printed_nothing(subject_out) && printed_nothing(reference_out)) {
        return LayerResult::not_applicable(std::string(reason::nothing_printed));
    }
    if (stdout_is_json(comparison, *sides)) {
        return LayerResult::not_applicable(std::string(reason::stdout_is_json));
    }
    const auto subject_line = header_of(subject_out);
    const auto reference_line = header_of(reference_out);
    if (!subject_line || !reference_line) {
        return LayerResult::inconclusive(std::string(reason::output_cut));
    }
    // Normalised as a whole line of text: some normalisers look at where a line begins and ends.
    const std::string subject = normalised(comparison, *subject_line);
    const std::string reference = normalised(comparison, *reference_line);
    if (subject == reference) {
        return LayerResult::agree(
            needed_for_text(comparison, *subject_line, *reference_line, std::equal_to<>{}));
    }
    Difference difference = start_difference(comparison, *sides, LayerId::header, Direction::differ,
                                             Severity::disagreement);
    difference.symptom.field = "line";
    difference.symptom.subject_message = template_of(comparison, subject);
    difference.symptom.reference_message = template_of(comparison, reference);
    difference.details["subject"] = shown_text(subject, max_shown_line);
    difference.details["reference"] = shown_text(reference, max_shown_line);
    return LayerResult::diverge(std::move(difference));
}

}  // namespace difffuzz

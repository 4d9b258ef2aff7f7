#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/needed_normalisers.hpp"
#include "oracles/shown_text.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_shown_line = 400;

struct LinePair {
    std::size_t number = 0;  // from 1
    std::string_view subject;
    std::string_view reference;
};

std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(length);
    return line;
}

// The two must differ. Lines keep their end, so that a missing last line feed shows.
LinePair first_differing_line(std::string_view subject, std::string_view reference) {
    LinePair pair;
    do {
        ++pair.number;
        pair.subject = take_line(subject);
        pair.reference = take_line(reference);
    } while (pair.subject == pair.reference);
    return pair;
}

LayerResult differing(const Comparison& comparison, const Sides& sides, std::string_view subject,
                      std::string_view reference, const std::string& field, Severity severity) {
    const LinePair lines = first_differing_line(subject, reference);
    Difference difference =
        start_difference(comparison, sides, LayerId::text, Direction::differ, severity);
    difference.symptom.field = field;
    difference.symptom.subject_message = template_of(comparison, lines.subject);
    difference.symptom.reference_message = template_of(comparison, lines.reference);
    difference.details = {{"stream", field == "stderr" ? "stderr" : "stdout"},
                          {"line", lines.number},
                          {"subject", shown_text(lines.subject, max_shown_line)},
                          {"reference", shown_text(lines.reference, max_shown_line)}};
    return LayerResult::diverge(std::move(difference));
}

}  // namespace

LayerResult compare_text(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (!sides->ended_alike()) {
        return LayerResult::not_applicable(std::string(reason::classes_differ));
    }
    struct Part {
        const Stream& subject;
        const Stream& reference;
        std::string field;
        Severity severity;
    };
    const Outcome& subject = sides->subject.outcome;
    const Outcome& reference = sides->reference.outcome;
    const bool json = stdout_is_json(comparison, *sides);
    std::vector<Part> parts;
    if (!json) {
        parts.push_back({subject.out, reference.out, "line", Severity::disagreement});
    }
    // What a refusal says on stderr is the error layer's.
    if (sides->both(OutcomeClass::succeeded)) {
        parts.push_back({subject.err, reference.err, "stderr", Severity::detail});
    }
    std::vector<std::string_view> needed;
    bool cut = false;
    bool compared = false;
    for (const Part& part : parts) {
        if (printed_nothing(part.subject) && printed_nothing(part.reference)) {
            continue;
        }
        if (part.subject.cut() || part.reference.cut()) {
            cut = true;
            continue;
        }
        compared = true;
        const std::string subject_text = stream_text(part.subject);
        const std::string reference_text = stream_text(part.reference);
        const std::string left = normalised(comparison, subject_text);
        const std::string right = normalised(comparison, reference_text);
        if (left != right) {
            return differing(comparison, *sides, left, right, part.field, part.severity);
        }
        const auto more =
            needed_for_text(comparison, subject_text, reference_text, std::equal_to<>{});
        needed.insert(needed.end(), more.begin(), more.end());
    }
    if (cut) {
        return LayerResult::inconclusive(std::string(reason::output_cut));
    }
    if (compared) {
        return LayerResult::agree(std::move(needed));
    }
    return LayerResult::not_applicable(
        std::string(json ? reason::stdout_is_json : reason::nothing_printed));
}

}  // namespace difffuzz

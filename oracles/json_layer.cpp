#include <algorithm>
#include <utility>

#include "oracles/comparing.hpp"
#include "oracles/finding_pairs.hpp"
#include "oracles/json_diff.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/needed_normalisers.hpp"
#include "oracles/shown_text.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_shown_start = 400;

void normalise(const Comparison& comparison, nlohmann::json& value) {
    for (const JsonNormaliser* normaliser : comparison.json_normalisers) {
        normaliser->apply(value);
    }
}

// The signed paths of the differences within what is printed of one thing: a list of such things
// (info of a chain) is no other cause.
void leave_out_list(std::vector<std::string>& fields) {
    constexpr std::string_view element = "[].";
    for (std::string& field : fields) {
        if (std::string_view(field).substr(1).starts_with(element)) {
            field.erase(1, element.size());
        }
    }
    std::ranges::sort(fields);
    fields.erase(std::ranges::unique(fields).begin(), fields.end());
}

// `needed` is asked where they agree.
template <typename Needed>
LayerResult compare_values(const Comparison& comparison, const Sides& sides, nlohmann::json subject,
                           nlohmann::json reference, const std::string& source,
                           const Needed& needed) {
    normalise(comparison, subject);
    normalise(comparison, reference);
    JsonDifferences differences = difference_of(subject, reference);
    if (differences.count == 0) {
        return LayerResult::agree(needed());
    }
    Difference difference = start_difference(comparison, sides, LayerId::json, Direction::differ,
                                             Severity::disagreement);
    leave_out_list(differences.fields);
    difference.symptom.field = (source == "stdout" ? "" : "info:") + joined_fields(differences);
    difference.details = to_json(differences);
    difference.details["source"] = source;
    return LayerResult::diverge(std::move(difference));
}

LayerResult unparseable(const Comparison& comparison, const Sides& sides, bool subject_is,
                        const std::string& text) {
    Difference difference = start_difference(comparison, sides, LayerId::json,
                                             subject_is ? Direction::subject : Direction::reference,
                                             Severity::disagreement);
    difference.symptom.field = "unparseable";
    difference.details = {{"source", "stdout"},
                          {"count", 1},
                          {"differences", nlohmann::json::array()},
                          {"unparseable", shown_text(text, max_shown_start)}};
    return LayerResult::diverge(std::move(difference));
}

LayerResult compare_stdout(const Comparison& comparison, const Sides& sides) {
    const Stream& subject_out = sides.subject.outcome.out;
    const Stream& reference_out = sides.reference.outcome.out;
    if (!stdout_is_json(comparison, sides)) {
        return LayerResult::not_applicable(std::string(reason::no_json));
    }
    if (subject_out.cut() || reference_out.cut()) {
        return LayerResult::inconclusive(std::string(reason::output_cut));
    }
    const std::string subject_text = without_harness(stream_text(subject_out));
    const std::string reference_text = without_harness(stream_text(reference_out));
    ParsedJson subject = parse_output(subject_text);
    ParsedJson reference = parse_output(reference_text);
    if (subject.form == JsonForm::too_deep || reference.form == JsonForm::too_deep) {
        return LayerResult::inconclusive(std::string(reason::json_too_deep));
    }
    const bool subject_malformed = subject.form == JsonForm::malformed;
    const bool reference_malformed = reference.form == JsonForm::malformed;
    if (subject_malformed && reference_malformed) {
        return LayerResult::inconclusive(std::string(reason::json_malformed_on_both));
    }
    if (subject_malformed || reference_malformed) {
        return unparseable(comparison, sides, subject_malformed,
                           subject_malformed ? subject_text : reference_text);
    }
    return compare_values(comparison, sides, std::move(subject.value), std::move(reference.value),
                          "stdout", [&] {
                              return needed_for_json_text(comparison, stream_text(subject_out),
                                                          stream_text(reference_out));
                          });
}

}  // namespace

LayerResult compare_json(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (!sides->ended_alike()) {
        return LayerResult::not_applicable(std::string(reason::classes_differ));
    }
    Collected collected;
    if (collected.add(compare_stdout(comparison, *sides))) {
        return collected.result();
    }
    const auto infos = [&](const InspectionRequest& request, const InfoFinding& subject,
                           const InfoFinding& reference) {
        return compare_values(
            comparison, *sides, subject.info, reference.info, "info of " + request.image,
            [&] { return needed_for_json(comparison, subject.info, reference.info); });
    };
    collected.add(compare_findings<InfoFinding>(comparison, *sides, LayerId::json,
                                                InspectionKind::info, MissingFiles::leave, infos));
    return collected.result();
}

}  // namespace difffuzz

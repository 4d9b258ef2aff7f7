// What the layers share: the two observed steps, their classes, and the start of a difference.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oracles/layer.hpp"

namespace difffuzz {

// Reasons of layers that do not apply or cannot tell. Counted by layer and reason, so their wording
// is part of the evidence: docs/oracles.md lists them.
namespace reason {
inline constexpr std::string_view step_not_run = "step not run";
inline constexpr std::string_view not_started = "tool did not start";
inline constexpr std::string_view external_timeout = "external timeout";
inline constexpr std::string_view no_ending = "no ending to compare";
inline constexpr std::string_view classes_differ = "outcome classes differ";
inline constexpr std::string_view not_both_refused = "not refused by both";
inline constexpr std::string_view not_both_succeeded = "not done by both";
inline constexpr std::string_view nothing_printed = "nothing printed";
inline constexpr std::string_view output_cut = "output cut";
inline constexpr std::string_view stdout_is_json = "stdout is JSON";
inline constexpr std::string_view no_json = "no JSON to compare";
inline constexpr std::string_view json_too_deep = "JSON nested too deep";
inline constexpr std::string_view json_malformed_on_both = "JSON malformed on both sides";
inline constexpr std::string_view no_image_to_keep = "no image that must not change";
inline constexpr std::string_view not_listed_before = "image not listed before the step";
inline constexpr std::string_view file_list_cut = "file list cut";
inline constexpr std::string_view nothing_requested = "nothing requested";
inline constexpr std::string_view refused_output = "output of a refused step";
inline constexpr std::string_view missing_on_both = "missing on both sides";
inline constexpr std::string_view missing_on_one = "missing on one side";
inline constexpr std::string_view unreadable_on_both = "unreadable on both sides";
inline constexpr std::string_view not_inspected = "not inspected";
inline constexpr std::string_view escapes = "refers outside of the workspace";
inline constexpr std::string_view no_model = "no model of the content";
inline constexpr std::string_view bytes_not_stable = "bytes not stable";
inline constexpr std::string_view nothing_written = "nothing written";
inline constexpr std::string_view damaged_image = "damaged image";
inline constexpr std::string_view no_relation = "nothing that must fit together";
inline constexpr std::string_view nothing_measured = "nothing measured";
inline constexpr std::string_view not_hashed = "file not hashed";
inline constexpr std::string_view not_run_again = "not run again";
inline constexpr std::string_view no_ending_again = "no ending of the second run";
inline constexpr std::string_view reference_varies = "the reference varies, too";
}  // namespace reason

// Both observations of the compared step. Refers to the comparison, which must outlive it.
struct Sides {
    const StepObservation& subject;
    const StepObservation& reference;
    OutcomeClass subject_class;
    OutcomeClass reference_class;

    bool both(OutcomeClass outcome) const {
        return subject_class == outcome && reference_class == outcome;
    }
    // Both ended by themselves, in the same class: what they printed and wrote can be compared.
    bool ended_alike() const {
        return both(OutcomeClass::succeeded) || both(OutcomeClass::refused);
    }
};

// Empty when one side did not run the step.
std::optional<Sides> sides_of(const Comparison& comparison);

// A difference with the symptom's operation, layer, direction and classes filled in, and the
// details an empty object.
Difference start_difference(const Comparison& comparison, const Sides& sides, LayerId layer,
                            Direction direction, Severity severity);

// `text` with the normalisers that always hold (harness_path_text, node_name_text).
std::string without_harness(std::string text);
// The same, then the operation's own.
std::string normalised(const Comparison& comparison, std::string text);

// What those are, in their order.
std::vector<const TextNormaliser*> text_chain(const Comparison& comparison);

// First line of stderr without the tool's name, normalised: what a refusal says.
std::string core_message(const Comparison& comparison, const StepObservation& side);

// The same before any normaliser.
std::string_view raw_core_message(const StepObservation& side);

// message_template with the file names of the case.
std::string template_of(const Comparison& comparison, std::string_view message);

// Whether both sides' stdout is for the json layer instead of header and text: the step asked for
// JSON and one side gave what looks like it, or both gave JSON unasked. Both must have ended alike.
bool stdout_is_json(const Comparison& comparison, const Sides& sides);

}  // namespace difffuzz

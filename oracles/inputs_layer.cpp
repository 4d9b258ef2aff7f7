#include <algorithm>
#include <optional>
#include <utility>

#include "oracles/comparing.hpp"
#include "oracles/file_lists.hpp"
#include "oracles/layer_functions.hpp"

namespace difffuzz {
namespace {

// How the file changed, or empty.
std::string change_of(const FileStates& states) {
    if (states.after == nullptr) {
        return "removed";
    }
    if (states.after->type != states.before->type) {
        return "type";
    }
    if (states.after->bytes != states.before->bytes) {
        return "size";
    }
    return states.after->content_hash != states.before->content_hash ? "content" : "";
}

nlohmann::json shown(const FileEntry* entry) {
    if (entry == nullptr) {
        return nullptr;
    }
    return {{"bytes", entry->bytes}};
}

nlohmann::json shown(const FileStates& states) {
    return {{"change", change_of(states)},
            {"before", shown(states.before)},
            {"after", shown(states.after)}};
}

bool same_end(const FileStates& a, const FileStates& b) {
    return a.after == nullptr || b.after == nullptr ? a.after == b.after : *a.after == *b.after;
}

LayerResult compare_one(const Comparison& comparison, const Sides& sides, const std::string& id,
                        const FileStates& subject, const FileStates& reference) {
    if (subject.before == nullptr || reference.before == nullptr) {
        return LayerResult::inconclusive(std::string(reason::not_listed_before));
    }
    if ((subject.after == nullptr && subject.after_cut) ||
        (reference.after == nullptr && reference.after_cut)) {
        return LayerResult::inconclusive(std::string(reason::file_list_cut));
    }
    const std::string subject_change = change_of(subject);
    const std::string reference_change = change_of(reference);
    if (subject_change.empty() && reference_change.empty()) {
        return LayerResult::agree();
    }
    const Direction direction = reference_change.empty() ? Direction::subject
                                : subject_change.empty() ? Direction::reference
                                                         : Direction::both;
    // A change that the reference makes just so is what the model of the step lacks, or its bug.
    const bool as_reference =
        subject_change.empty() || (direction == Direction::both && same_end(subject, reference));
    Difference difference =
        start_difference(comparison, sides, LayerId::inputs, direction,
                         as_reference ? Severity::reference : Severity::corruption);
    difference.symptom.field = subject_change.empty() ? reference_change : subject_change;
    difference.details = {{"image", id},
                          {"format", format_of(comparison.c, id)},
                          {"subject", shown(subject)},
                          {"reference", shown(reference)}};
    return LayerResult::diverge(std::move(difference));
}

}  // namespace

LayerResult compare_inputs(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    std::optional<LayerResult> result;
    for (const std::string& id : file_ids(comparison.c)) {
        if (std::find(comparison.may_change.begin(), comparison.may_change.end(), id) !=
            comparison.may_change.end()) {
            continue;
        }
        const FileStates subject = states_of(comparison, comparison.subject, id);
        const FileStates reference = states_of(comparison, comparison.reference, id);
        const bool is_image = find_image(comparison.c, id) != nullptr;
        if (!is_image && (subject.before == nullptr || reference.before == nullptr)) {
            continue;  // an output that no earlier step made on both sides
        }
        LayerResult one = compare_one(comparison, *sides, id, subject, reference);
        if (one.verdict == LayerVerdict::diverge) {
            return one;
        }
        if (!result || one.verdict == LayerVerdict::inconclusive) {
            result = std::move(one);
        }
    }
    return result ? *result : LayerResult::not_applicable(std::string(reason::no_image_to_keep));
}

}  // namespace difffuzz

#include <algorithm>
#include <utility>

#include "oracles/comparing.hpp"
#include "oracles/file_lists.hpp"
#include "oracles/finding_pairs.hpp"
#include "oracles/layer_functions.hpp"

namespace difffuzz {
namespace {

LayerResult compare_one(const Comparison& comparison, const Sides& sides, const std::string& id) {
    const FileStates subject = states_of(comparison, comparison.subject, id);
    const FileStates reference = states_of(comparison, comparison.reference, id);
    if (subject.after == nullptr || reference.after == nullptr) {
        return LayerResult::not_applicable(std::string(
            subject.after == reference.after ? reason::missing_on_both : reason::missing_on_one));
    }
    if (subject.after->content_hash == 0 || reference.after->content_hash == 0) {
        return LayerResult::inconclusive(std::string(reason::not_hashed));
    }
    if (subject.after->bytes == reference.after->bytes &&
        subject.after->content_hash == reference.after->content_hash) {
        return LayerResult::agree();
    }
    Difference difference =
        start_difference(comparison, sides, LayerId::bytes, Direction::differ, Severity::detail);
    difference.symptom.field = "bytes";
    difference.details = {{"image", id},
                          {"format", format_of(comparison.c, id)},
                          {"subject", {{"bytes", subject.after->bytes}}},
                          {"reference", {{"bytes", reference.after->bytes}}}};
    return LayerResult::diverge(std::move(difference));
}

}  // namespace

LayerResult compare_bytes(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (!comparison.bytes_stable) {
        return LayerResult::not_applicable(std::string(reason::bytes_not_stable));
    }
    if (!sides->both(OutcomeClass::succeeded)) {
        return LayerResult::not_applicable(std::string(reason::not_both_succeeded));
    }
    Collected collected;
    for (const std::string& id : file_ids(comparison.c)) {
        const bool mutated = std::find(comparison.may_change.begin(), comparison.may_change.end(),
                                       id) != comparison.may_change.end();
        if (!mutated && find_output(comparison.c, id) == nullptr) {
            continue;
        }
        if (collected.add(compare_one(comparison, *sides, id))) {
            break;
        }
    }
    const LayerResult result = collected.result();
    return result.reason == reason::nothing_requested
               ? LayerResult::not_applicable(std::string(reason::nothing_written))
               : result;
}

}  // namespace difffuzz

#include <utility>

#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/relations.hpp"

namespace difffuzz {
namespace {

bool broken(const std::optional<RelationState>& state) { return state && !state->holds; }

nlohmann::json shown(const std::optional<RelationState>& state) {
    return state ? state->numbers : nlohmann::json();
}

LayerResult broken_relation(const Comparison& comparison, const Sides& sides,
                            const Relation& relation, const std::optional<RelationState>& subject,
                            const std::optional<RelationState>& reference) {
    const bool by_reference = broken(reference);
    const Direction direction = !by_reference     ? Direction::subject
                                : broken(subject) ? Direction::both
                                                  : Direction::reference;
    Difference difference =
        start_difference(comparison, sides, LayerId::relations, direction,
                         by_reference ? Severity::reference : Severity::disagreement);
    difference.symptom.field = relation.name;
    difference.details = {
        {"relation", relation.name}, {"subject", shown(subject)}, {"reference", shown(reference)}};
    return LayerResult::diverge(std::move(difference));
}

}  // namespace

LayerResult compare_relations(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (!sides->both(OutcomeClass::succeeded)) {
        return LayerResult::not_applicable(std::string(reason::not_both_succeeded));
    }
    bool held = false;
    for (const Relation& relation : relations()) {
        const auto subject = relation.look({comparison, comparison.subject});
        const auto reference = relation.look({comparison, comparison.reference});
        if (broken(subject) || broken(reference)) {
            return broken_relation(comparison, *sides, relation, subject, reference);
        }
        held |= subject && reference;
    }
    return held ? LayerResult::agree()
                : LayerResult::not_applicable(std::string(reason::no_relation));
}

}  // namespace difffuzz

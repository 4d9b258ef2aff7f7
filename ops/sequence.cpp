#include "ops/sequence.hpp"

#include "ops/shared.hpp"
#include "ops/state_shared.hpp"
#include "pickers/sequence.hpp"

namespace difffuzz {

const Operation& sequence_operation() {
    static const Operation operation{
        .name = "sequence",
        .summary = "many changes to one image and its chain, compared after each",
        .weight = 8,
        .picker = &sequence_picker(),
        .cost = state_cost,
        .inspections = state_inspections,
        .may_change = state_may_change,
        .bytes_stable = never_bytes_stable,
        .layers = state_layers(),
        .text_normalisers = {&snapshot_date_text(), &progress_text()},
        .json_normalisers = state_json_normalisers(),
    };
    return operation;
}

}  // namespace difffuzz

#include "ops/snapshot.hpp"

#include "ops/shared.hpp"
#include "ops/state_shared.hpp"
#include "pickers/snapshot.hpp"

namespace difffuzz {

const Operation& snapshot_operation() {
    static const Operation operation{
        .name = "snapshot",
        .summary = "internal snapshots: made, applied, deleted and listed",
        .weight = 8,
        .picker = &snapshot_picker(),
        .cost = state_cost,
        .inspections = state_inspections,
        .may_change = state_may_change,
        .bytes_stable = never_bytes_stable,
        .layers = state_layers(),
        .text_normalisers = {&snapshot_date_text()},
        .json_normalisers = state_json_normalisers(),
    };
    return operation;
}

}  // namespace difffuzz

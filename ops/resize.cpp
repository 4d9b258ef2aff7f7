#include "ops/resize.hpp"

#include "ops/shared.hpp"
#include "ops/state_shared.hpp"
#include "pickers/resize.hpp"

namespace difffuzz {

const Operation& resize_operation() {
    static const Operation operation{
        .name = "resize",
        .summary = "images that grow and shrink",
        .weight = 8,
        .picker = &resize_picker(),
        .cost = state_cost,
        .inspections = state_inspections,
        .may_change = state_may_change,
        .bytes_stable = never_bytes_stable,
        .layers = state_layers(),
        .text_normalisers = {},
        .json_normalisers = state_json_normalisers(),
    };
    return operation;
}

}  // namespace difffuzz

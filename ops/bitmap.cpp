#include "ops/bitmap.hpp"

#include "ops/shared.hpp"
#include "ops/state_shared.hpp"
#include "pickers/bitmap.hpp"

namespace difffuzz {

const Operation& bitmap_operation() {
    static const Operation operation{
        .name = "bitmap",
        .summary = "dirty bitmaps of qcow2 images",
        .weight = 8,
        .picker = &bitmap_picker(),
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

#include "ops/map.hpp"

#include "ops/shared.hpp"
#include "pickers/map.hpp"

namespace difffuzz {

const Operation& map_operation() {
    static const Operation operation{
        .name = "map",
        .summary = "which parts of an image are allocated, and where",
        .weight = 10,
        .picker = &map_picker(),
        .cost = images_cost,
        .inspections = no_inspections,
        .may_change = changes_nothing,
        .bytes_stable = never_bytes_stable,
        .layers = reading_layers(),
        .text_normalisers = {},
        .json_normalisers = {},
    };
    return operation;
}

}  // namespace difffuzz

#include "ops/measure.hpp"

#include "ops/shared.hpp"
#include "pickers/measure.hpp"

namespace difffuzz {

const Operation& measure_operation() {
    static const Operation operation{
        .name = "measure",
        .summary = "how large a file an image would need",
        .weight = 10,
        .picker = &measure_picker(),
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

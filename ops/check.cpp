#include "ops/check.hpp"

#include "ops/shared.hpp"
#include "pickers/check.hpp"

namespace difffuzz {

const Operation& check_operation() {
    static const Operation operation{
        .name = "check",
        .summary = "whether an image is sound",
        .weight = 10,
        .picker = &check_picker(),
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

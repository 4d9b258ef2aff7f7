#include "ops/amend.hpp"

#include "ops/shared.hpp"
#include "ops/state_shared.hpp"
#include "pickers/amend.hpp"

namespace difffuzz {

const Operation& amend_operation() {
    static const Operation operation{
        .name = "amend",
        .summary = "options of images changed in place",
        .weight = 8,
        .picker = &amend_picker(),
        .cost = state_cost,
        .inspections = state_inspections,
        .may_change = state_may_change,
        .bytes_stable = never_bytes_stable,
        .layers = state_layers(),
        .text_normalisers = {&progress_text()},
        .json_normalisers = state_json_normalisers(),
    };
    return operation;
}

}  // namespace difffuzz

#include "ops/rebase.hpp"

#include "ops/shared.hpp"
#include "ops/state_shared.hpp"
#include "pickers/rebase.hpp"

namespace difffuzz {

const Operation& rebase_operation() {
    static const Operation operation{
        .name = "rebase",
        .summary = "images that get another backing file, or none",
        .weight = 8,
        .picker = &rebase_picker(),
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

#include "ops/commit.hpp"

#include "ops/shared.hpp"
#include "ops/state_shared.hpp"
#include "pickers/commit.hpp"

namespace difffuzz {

const Operation& commit_operation() {
    static const Operation operation{
        .name = "commit",
        .summary = "images that go into their backing files",
        .weight = 8,
        .picker = &commit_picker(),
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

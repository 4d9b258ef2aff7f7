#include "ops/compare.hpp"

#include "ops/shared.hpp"
#include "pickers/compare.hpp"

namespace difffuzz {

const Operation& compare_operation() {
    static const Operation operation{
        .name = "compare",
        .summary = "whether two images hold the same",
        .weight = 10,
        .picker = &compare_picker(),
        .cost = images_cost,
        .inspections = no_inspections,
        .may_change = changes_nothing,
        .bytes_stable = never_bytes_stable,
        // 1: they differ. Errors have codes above it, but a wrong command line has 1 as well, with
        // a message on stderr.
        .answer_codes = {1},
        .layers = reading_layers(),
        .text_normalisers = {&progress_text()},
        .json_normalisers = {},
    };
    return operation;
}

}  // namespace difffuzz

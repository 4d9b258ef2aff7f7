#include "ops/info.hpp"

#include "ops/shared.hpp"
#include "pickers/info.hpp"

namespace difffuzz {

const Operation& info_operation() {
    static const Operation operation{
        .name = "info",
        .summary = "what a tool says about an image and its backing chain",
        .weight = 10,
        .picker = &info_picker(),
        .cost = images_cost,
        .inspections = no_inspections,
        .may_change = changes_nothing,
        .bytes_stable = never_bytes_stable,
        .layers = reading_layers(),
        .text_normalisers = {&disk_size_text()},
        .json_normalisers = {&disk_size_json(), &vmdk_cid_json()},
    };
    return operation;
}

}  // namespace difffuzz

#include "ops/measure.hpp"

#include "images/format.hpp"
#include "ops/shared.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/measure.hpp"

namespace difffuzz {
namespace {

// A convert in front copies an image that is small, whatever its clusters are.
Cost cost(const Case& c) {
    Cost cost = images_cost(c);
    if (c.steps.size() > 1) {
        constexpr std::uint64_t smallest_cluster = 512;
        const ImageRecipe& source = c.images.back();
        const std::uint64_t size = find_format(source.format)->actual_size(source);
        cost.bytes_written += 2 * size;
        cost.requests += size / smallest_cluster + 1;
        cost.metadata_clusters += size / smallest_cluster + 8;
    }
    return cost;
}

std::vector<std::string> may_change(const Case& c, std::size_t step) {
    return c.steps[step].command == "convert" ? std::vector{std::string(target_id)}
                                              : std::vector<std::string>{};
}

}  // namespace

const Operation& measure_operation() {
    static const Operation operation{
        .name = "measure",
        .summary = "how large a file an image would need",
        .weight = 10,
        .picker = &measure_picker(),
        .cost = cost,
        .inspections = no_inspections,
        .may_change = may_change,
        .bytes_stable = never_bytes_stable,
        .layers = reading_layers(),
        .text_normalisers = {},
        .json_normalisers = {},
    };
    return operation;
}

}  // namespace difffuzz

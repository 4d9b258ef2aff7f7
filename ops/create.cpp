#include "ops/create.hpp"

#include "images/format.hpp"
#include "ops/shared.hpp"
#include "pickers/backing_rules.hpp"
#include "pickers/create.hpp"
#include "pickers/creation_options.hpp"

namespace difffuzz {
namespace {

Cost cost(const Case& c) {
    Cost cost = images_cost(c);
    if (!broken_rule(c).empty()) {
        // What is refused allocates nothing; tools that do are stopped by our limits.
        return cost;
    }
    const UpFront up_front = target_up_front(c, create_size(c).value_or(0));
    cost.bytes_written += up_front.bytes;
    cost.metadata_clusters += up_front.clusters;
    return cost;
}

std::vector<InspectionRequest> inspections(const Case& c, std::size_t step) {
    const auto size = create_size(c);
    const auto backing = named_backing(c.steps[step]);
    // Nobody can read an image whose backing file is absent.
    if (std::holds_alternative<RefusedIntent>(c.steps[step].intent) || !size ||
        (backing && find_image(c, *backing) == nullptr)) {
        return {};
    }
    const ImageRecipe made = target_recipe(c, *size);
    const std::uint64_t made_size = find_format(made.format)->actual_size(made);
    return output_inspections(made.id, made.format,
                              backing ? ContentExpectation::of_image(*backing).resized(made_size)
                                      : ContentExpectation::zeros(made_size));
}

std::vector<std::string> may_change(const Case&, std::size_t) { return {std::string(target_id)}; }

bool bytes_stable(const Case& c, std::size_t) {
    const Format* format = find_format(target_format(c));
    return format != nullptr && format->bytes_stable;
}

}  // namespace

const Operation& create_operation() {
    static const Operation operation{
        .name = "create",
        .summary = "a new image, empty or on top of another one",
        .weight = 12,
        .picker = &create_picker(),
        .cost = cost,
        .inspections = inspections,
        .may_change = may_change,
        .bytes_stable = bytes_stable,
        .layers = writing_layers(),
        .text_normalisers = {},
        .json_normalisers = {},
    };
    return operation;
}

}  // namespace difffuzz

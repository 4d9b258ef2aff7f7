#include "ops/dd.hpp"

#include "images/format.hpp"
#include "ops/shared.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/dd.hpp"

namespace difffuzz {
namespace {

Cost cost(const Case& c) {
    Cost cost = images_cost(c);
    if (const auto window = dd_window(c)) {
        cost.bytes_written += window->length;
        cost.requests += 2 * window->blocks;
    }
    return cost;
}

std::vector<InspectionRequest> inspections(const Case& c, std::size_t step) {
    const auto window = dd_window(c);
    if (std::holds_alternative<RefusedIntent>(c.steps[step].intent) || !window) {
        return {};
    }
    const ImageRecipe made = target_recipe(c, window->length);
    return output_inspections(made.id, made.format,
                              ContentExpectation::of_image(dd_source(c.steps[step]))
                                  .from(window->offset)
                                  .resized(window->length)
                                  .resized(find_format(made.format)->actual_size(made)));
}

std::vector<std::string> may_change(const Case&, std::size_t) { return {std::string(target_id)}; }

bool bytes_stable(const Case& c, std::size_t) {
    const Format* format = find_format(target_format(c));
    return format != nullptr && format->bytes_stable;
}

}  // namespace

const Operation& dd_operation() {
    static const Operation operation{
        .name = "dd",
        .summary = "a part of an image, block by block",
        .weight = 10,
        .picker = &dd_picker(),
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

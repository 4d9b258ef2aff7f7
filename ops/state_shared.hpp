// Declarations of operations whose cases are made of steps that change images (Picker::kinds).
#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// After a step: content (the whole chain and every snapshot, against the model), structure and info
// of all images that the step may change, and the content of all images that see them through their
// backing chain. After a refusal everything must be as it was.
std::vector<InspectionRequest> state_inspections(const Case& c, std::size_t step);

// The images that the step may change, by its kind.
std::vector<std::string> state_may_change(const Case& c, std::size_t step);

// The images, what each step allocates, and for steps that move data all that there is by then,
// once.
Cost state_cost(const Case& c);

// The layers of such an operation: all, with the json layer called info.
std::vector<LayerUse> state_layers();

// What such an operation writes is shown in ways that differ from run to run.
std::vector<const JsonNormaliser*> state_json_normalisers();

}  // namespace difffuzz

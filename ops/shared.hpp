// Declarations that several operations' rows share.
#pragma once

#include "ops/operation.hpp"

namespace difffuzz {

// Bytes written to build the case's images: their content, tables and (for formats built by
// conversion) the pass over the virtual size.
Cost images_cost(const Case& c);

// For an operation that makes image `id`: its content against the model and, where its format has a
// structure that can be checked, its check.
std::vector<InspectionRequest> output_inspections(const std::string& id, const std::string& format,
                                                  ContentExpectation expected);

// For operations that only read: nothing is inspected beyond the workspace itself.
std::vector<InspectionRequest> no_inspections(const Case& c, std::size_t step);
std::vector<std::string> changes_nothing(const Case& c, std::size_t step);
bool never_bytes_stable(const Case& c, std::size_t step);

// The layers of an operation that reads images and prints: all but content, check and bytes.
std::vector<LayerUse> reading_layers();
// The layers of an operation that writes images: all.
std::vector<LayerUse> writing_layers();

}  // namespace difffuzz

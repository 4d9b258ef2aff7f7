// Draws of `convert` and `convert_compressed`: copies of one or more images into a new one. The
// first never asks for compression, the second always does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& convert_picker();
const Picker& convert_compressed_picker();

// Ids of the images that the step reads one after the other, in order; without the output.
std::vector<std::string> convert_sources(const Step& step);
// Sum of the actual virtual sizes of the sources that exist, bytes.
std::uint64_t convert_size(const Case& c);
// Whether the step writes all of the virtual size, zeros as well (-S 0).
bool convert_is_dense(const Step& step);

}  // namespace difffuzz

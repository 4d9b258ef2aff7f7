// Backing images of formats that record a backing file's name, not its format.
#pragma once

#include <cstdint>
#include <string>

#include "core/cases/case.hpp"
#include "images/file.hpp"

namespace difffuzz {

// File name of the recipe's backing image; empty when it has none. Throws ImageError when readers,
// which look at the file to find its format out, would take it for raw.
std::string backing_name_for_probing(const Case& c, const ImageRecipe& recipe);

// `length` bytes at `offset`, as far as the file goes.
std::string read_name(const File& file, std::uint64_t offset, std::uint32_t length);

}  // namespace difffuzz

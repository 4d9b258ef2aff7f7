// What a recipe of a qcow2 image may ask for.
#pragma once

#include <cstdint>
#include <string>

#include "core/cases/image_recipe.hpp"

namespace difffuzz::qcow2 {

// The option, or its default.
std::uint64_t cluster_bytes(const ImageRecipe& recipe);
bool is_version_2(const ImageRecipe& recipe);
bool has_extended_l2(const ImageRecipe& recipe);
unsigned refcount_bits(const ImageRecipe& recipe);
// The file that keeps the data; empty: the image itself does.
std::string data_file(const ImageRecipe& recipe);
bool data_file_is_raw(const ImageRecipe& recipe);
bool is_encrypted(const ImageRecipe& recipe);

// See Format::validate.
std::string validate(const ImageRecipe& recipe);

}  // namespace difffuzz::qcow2

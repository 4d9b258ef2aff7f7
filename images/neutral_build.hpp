// Images of formats that qemu-img builds for us.
#pragma once

#include <string>
#include <string_view>

#include "core/cases/case.hpp"
#include "images/format.hpp"

namespace difffuzz {

// Makes `directory`/file_name(recipe): writes the model of the recipe's content, `raw_bytes` of it,
// to a temporary raw file there, has the neutral qemu-img convert it with `options` ("" or what
// follows -o), and removes it. Throws ImageError with what qemu-img printed if it fails.
void build_by_convert(const Case& c, const ImageRecipe& recipe, std::uint64_t raw_bytes,
                      std::string_view options, const std::string& directory, NeutralTools& tools);

// As build_by_convert(), for a recipe with a backing image: what no write touches stays
// unallocated. The model goes through a temporary qcow2 image on the same backing file, since a raw
// one would have bytes everywhere.
void build_overlay_by_convert(const Case& c, const ImageRecipe& recipe, std::string_view options,
                              const std::string& directory, NeutralTools& tools);

}  // namespace difffuzz

// What the targets of the formats' readers share; targets/image_reader_*.cpp name the formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/cases/image_recipe.hpp"
#include "tests/fuzz/target.hpp"

namespace difffuzz::fuzz {

// Reads `input` as an image of `format`, as it is and then with 4 MiB behind it, holes with some
// data in between, so that what lies far out is there, too. Beside it is an image "base.raw".
// Checks, for any bytes:
//
//  1. Opening, looking for extents and reading each end, or throw ImageError with one short
//     sentence.
//  2. Extents are not empty, stay within the size, and what they call zero reads as zeros.
//  3. Reading in pieces gives the same bytes as reading at once.
//  4. Opening it again gives the same size and the same extents.
//  5. Snapshots and bitmaps are listed, or refused likewise; bitmaps' ranges ascend.
//  6. References found in the metadata are bounded in number and length.
//  7. The file is as it was.
//  8. An open image holds at most `max_bytes` of memory, and reading it, listing its bitmaps and
//     searching it for references take no more.
// Accepted is what opens as it is.
Verdict read_image(std::string_view format, std::string_view input, std::size_t max_bytes);

// All of the content of an image of a format that takes any bytes.
std::string read_content(std::string_view format, std::string_view input);

// The bytes of the image that the recipe builds, cut to max_input_bytes.
std::string built_image(const ImageRecipe& recipe);

// An image of `format`, named "input", as read_image() names it.
ImageRecipe image_recipe(std::string_view format, std::uint64_t size,
                         std::vector<ContentWrite> content = {});

}  // namespace difffuzz::fuzz

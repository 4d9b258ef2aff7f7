// What a persistent dirty bitmap of an image says, in whatever format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cases/image_recipe.hpp"

namespace difffuzz {

struct BitmapContent {
    std::string name;               // bytes
    std::uint64_t granularity = 0;  // bytes, a power of two
    bool in_use = false;            // not closed properly: what it says means nothing
    bool enabled = false;           // it records what is written from now on
    // Ascending, with something between them, within the disk. Empty where `in_use`.
    std::vector<ByteRange> dirty;
    bool operator==(const BitmapContent&) const = default;
};

}  // namespace difffuzz

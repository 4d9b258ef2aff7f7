// Finds the convert that a measure in the same case is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "oracles/relations.hpp"

namespace difffuzz {

struct MeasuredConvert {
    std::size_t measure = 0;  // index of the step
    std::size_t convert = 0;
    std::uint64_t written_bytes = 0;  // apparent size of the file that convert made
    // Metadata preallocation makes the file as long as the full image, though most of it is holes:
    // the bound is then what measure says of a full one.
    bool fully_allocated = false;
};

// A measure and a convert of one source to one new file, both done by this side, the later of them
// the compared step, that agree in target format, creation options and snapshot. Nothing where
// there is none, and for conversions that may write more than what the source holds: dense ones
// (-S 0), with bitmaps, or with a data file of their own.
std::optional<MeasuredConvert> measured_convert(const OneSide& side);

}  // namespace difffuzz

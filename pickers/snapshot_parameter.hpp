// The value of -l of convert and measure: which internal snapshot of the source is read.
#pragma once

#include <cstddef>
#include <optional>

#include "core/cases/draws.hpp"
#include "core/cases/image_recipe.hpp"
#include "core/cases/value.hpp"

namespace difffuzz {

// Index of the snapshot of `image` that the value names, as qemu-img understands it:
// "snapshot.id=ID", "snapshot.name=NAME", both with a comma between them (then both must fit), or
// anything else, which is an id if there is such a one and else a name. The first that fits counts;
// nothing where none does. Commas within a name are doubled in the form with "snapshot.".
std::optional<std::size_t> named_snapshot(const ImageRecipe& image, const Value& value);

// One that names a snapshot of `image`, which must have some.
Value draw_snapshot_parameter(const Draws& draws, const ImageRecipe& image);

// A value that names no snapshot of any image that we draw.
Value draw_no_snapshot(const Draws& draws);

}  // namespace difffuzz

// Draws of `create`: new images of every format, with and without a backing file.
#pragma once

#include <cstdint>
#include <optional>

#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& create_picker();

// The virtual size that the step asks for, bytes: the positional one, the creation option, or that
// of the backing file. Nothing where it gives none that is a size.
std::optional<std::uint64_t> create_size(const Case& c);

}  // namespace difffuzz

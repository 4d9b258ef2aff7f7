// Limits of ours that tell something about the subject.
#pragma once

#include <optional>

#include "oracles/comparing.hpp"

namespace difffuzz {

// The limit (memory, disk, output or processes) that ended the subject where the reference ended by
// itself and took at most a tenth of it. Any other limit tells nothing: the case may need that
// much.
std::optional<LimitKind> limit_of_subject_alone(const Comparison& comparison, const Sides& sides);

}  // namespace difffuzz

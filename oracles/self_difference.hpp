// What two runs of one case by one tool differ in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oracles/layer.hpp"

namespace difffuzz {

struct SelfDifference {
    // "status", "stdout", "stderr", "file" (name, type, size or bytes) or "content" of an image:
    // the first of these, in this order, that differs.
    std::string_view aspect;
    nlohmann::json first;  // what the first run shows of it: escaped, bounded
    nlohmann::json again;  // the same of the other one
};

// The first difference of the comparison's step between `first` and `again`, which have both run
// it. Normalisers of the operation are applied, and those for dates, since a tool may tell times in
// its own zone. Sizes and bytes of images count where the comparison says that the reference
// repeats them, or the step may not change them; contents always, where both runs were looked at.
std::optional<SelfDifference> self_difference(const Comparison& comparison,
                                              const Observation& first, const Observation& again);

// How what the reference does not keep is named: "convert stdout".
std::string varying_name(std::string_view operation, std::string_view aspect);

}  // namespace difffuzz

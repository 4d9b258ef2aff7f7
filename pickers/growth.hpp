// What speaks against another virtual size of an image, whichever command asks for it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pickers/state_rules.hpp"

namespace difffuzz {

// The rule of growth_rules() that an image of `state` breaks when it gets `size` bytes, be it the
// size that it has; empty when none. The format must be one that can be resized.
std::string_view resize_obstacle(const CaseState& state, const ImageState& image,
                                 std::uint64_t size);

template <StepKinds (*kinds)()>
std::vector<Rule> growth_rules() {
    return {
        bounding_rule<"stale-tail", kinds>(
            "an image that was cut inside a cluster does not grow again: qemu-img 5.2 to 10.0 then "
            "show what was cut off, where zeros belong"),
        bounding_rule<"version-2-resize", kinds>(
            "version 2 of qcow2 keeps its size where it has snapshots, or would hide a longer "
            "backing file: tools refuse both"),
        bounding_rule<"zeros-in-last-cluster", kinds>(
            "an image with extended L2 entries that hides a longer backing file ends with a "
            "cluster where it grows: tools refuse to put zeros behind compressed data"),
    };
}

}  // namespace difffuzz

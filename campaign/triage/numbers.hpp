// The numbers of a case: where they stand, and how to put others there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "campaign/triage/reducer.hpp"

namespace difffuzz {

struct NumberPlace {
    std::string thing;        // as in Edit: "size of image src"
    std::uint64_t value = 0;  // at present
    // Pure; of a case that has the place. The result may be outside of the envelope.
    std::function<Reduced(Reduced, std::uint64_t)> set;
};

// Sizes of images, offsets and lengths of writes, values of damage, and of arguments and options
// the numbers from 0 on and the sizes that are spelled in plain bytes; in a fixed order.
std::vector<NumberPlace> numbers_of(const Reduced& from);

}  // namespace difffuzz

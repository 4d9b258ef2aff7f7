// What difffuzz prints.
#pragma once

#include <iostream>

#include "core/errors.hpp"

namespace difffuzz {

// To be called when a command has printed all: what did not get out is not to look like success.
inline void require_output() {
    std::cout.flush();
    if (!std::cout) {
        throw EnvironmentError("cannot write to standard output");
    }
}

}  // namespace difffuzz

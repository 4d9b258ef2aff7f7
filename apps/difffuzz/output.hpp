// What difffuzz prints.
#pragma once

#include <iostream>
#include <string>

#include "core/errors.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {

// What may hold strangers' words, on one line.
inline void print_line(const std::string& line) { std::cout << printable_text(line) << "\n"; }

// To be called when a command has printed all: what did not get out is not to look like success.
inline void require_output() {
    std::cout.flush();
    if (!std::cout) {
        throw EnvironmentError("cannot write to standard output");
    }
}

}  // namespace difffuzz

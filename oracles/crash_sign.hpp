// The ways in which a program shows that it died of a fault of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/tools/command.hpp"

namespace difffuzz {

struct CrashSign {
    std::string field;   // "sanitizer", "assertion" or "signal": the most telling one
    std::string line;    // the line of output that says so; empty for a bare signal
    std::string signal;  // "SIGSEGV"; empty when the program ended by itself
};

// Looks for, in this order:
//   1. a report of a sanitizer (AddressSanitizer and its kin: "ERROR: <Name>Sanitizer"; UBSan:
//      "runtime error: ") on stderr or stdout;
//   2. a failed assertion or internal error on stderr (glibc: "Assertion `"; GLib: "ERROR:" with
//      "assertion failed"; Rust: "panicked at"; "internal error");
//   3. a death by signal.
// Only for commands that ended by themselves: what a limit of ours or a timeout did is no crash.
std::optional<CrashSign> crash_sign(const Outcome& outcome);

}  // namespace difffuzz

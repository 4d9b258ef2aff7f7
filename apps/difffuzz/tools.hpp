// Which tools a command works on: flags, environment, difffuzz.toml, PATH; in this order.
#pragma once

#include <string>

#include "apps/difffuzz/flags.hpp"
#include "core/tools/command.hpp"
#include "core/tools/runner.hpp"

namespace difffuzz {

struct ToolPaths {
    std::string subject;    // absolute
    std::string reference;  // absolute
};

// Throws UsageError when no subject is named (with the three ways to name one) or no reference is
// found, EnvironmentError when a file named is not there or cannot be executed.
ToolPaths find_tools(const Flags& flags);

// The subject alone, for commands without a reference.
std::string find_subject(const Flags& flags);

// The program of --baseline, absolute; empty without it. EnvironmentError as above.
std::string find_baseline(const Flags& flags);

// The reference alone, for commands without a subject.
std::string find_reference(const Flags& flags);

// The user that tools run as: "nobody" or --run-as when this is root, else unchanged. UsageError
// for a user that does not exist, or for root.
Identity tool_identity(const Flags& flags);

// The directories of --expose, absolute. UsageError for what is none, or is "/".
std::vector<std::string> exposed_from(const Flags& flags);

Limits limits_from(const Flags& flags);

unsigned jobs_from(const Flags& flags);

}  // namespace difffuzz

// Records and recipes that a command is given.
#pragma once

#include <string>

#include "campaign/evidence/record.hpp"

namespace difffuzz {

// A record, or a bare recipe (without a symptom), inside its operation's envelope. UsageError
// naming the file.
ParsedRecord read_record_or_recipe(const std::string& path);

// The commands of a case as a shell would take them, one a line.
std::string shown_commands(const Case& c);

}  // namespace difffuzz

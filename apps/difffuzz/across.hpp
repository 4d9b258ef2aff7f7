// One case on many subjects: who does what, and where it changes.
#pragma once

#include "apps/difffuzz/flags.hpp"
#include "campaign/evidence/record.hpp"

namespace difffuzz {

// Runs the case with each program of --across as the subject and prints a table, or JSON
// (docs/across.schema.json). Returns the exit code: 0 when all gave an answer, 6 when inputs
// drifted, else 4. Throws UsageError or EnvironmentError, also for a program that is not there,
// before anything runs.
int repro_across(const ParsedRecord& input, const Flags& flags);

}  // namespace difffuzz

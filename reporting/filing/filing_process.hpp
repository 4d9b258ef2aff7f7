// The process that files issues: difffuzz executed anew, the only one that ever reads a token.
#pragma once

#include <functional>
#include <string>

#include "reporting/filing/filer.hpp"

namespace difffuzz {

// argv[1] of the process; no command of difffuzz.
inline constexpr const char* filing_command = "--filing-process";

// Starts the process, hands it `job` and the descriptor of the tokens (-1: none), and calls `done`
// for each result as it comes. An issue whose result does not come (the process died) gets one that
// says so. `executable` is difffuzz. Throws EnvironmentError when the process cannot be started.
void file_in_process(const std::string& executable, int token_pipe, const FilingJob& job,
                     const std::function<void(const FilingResult&)>& done);

// main() of the process: reads the job from standard input, the tokens from descriptor 3, and
// writes results to standard output, one JSON object a line. Returns its exit code.
int serve_filing();

}  // namespace difffuzz

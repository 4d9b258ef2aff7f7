// The kinds of failure that end a command of difffuzz, each with its documented exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace difffuzz {

// What difffuzz's commands exit with (DESIGN: the command line).
enum class ExitCode : int {
    holds = 0,
    does_not_hold = 1,
    usage = 2,
    environment = 3,
    no_verdict = 4,
    other_symptom = 5,
    inputs_drifted = 6,
    not_filed = 7,
    interrupted = 130,
};

// Wrong flags, values or files from the user: exit 2. The message is one sentence that says what,
// where and what to do.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A tool, a permission, the disk or a lock: exit 3. One sentence likewise.
class EnvironmentError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace difffuzz

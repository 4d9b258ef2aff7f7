// Tokens of trackers: from the environment into a pipe, and from there to the filing process alone.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reporting/filing/tracker.hpp"

namespace difffuzz {

// Executes this program anew, with the same arguments, when its environment holds a variable that
// is for a token: without these variables, and with their values in a pipe that nothing but the
// filing process inherits. (What is unset stays readable in /proc/PID/environ.) Returns when there
// is none. Throws EnvironmentError when the program cannot be executed.
void shed_tokens(char** argv);

// Where a token can be had from, known without reading one.
struct TokenSource {
    int pipe = -1;                   // lives as long as the process; -1: no variable held a token
    std::vector<std::string> names;  // of the variables whose values are in the pipe
    // Variables that hold something else than a token, and what is wrong with it.
    std::map<std::string, std::string, std::less<>> unusable;
    std::string file;  // of DIFFFUZZ_TOKEN_FILE, empty: none
};

// Of this process, after shed_tokens().
TokenSource token_source();

// Throws UsageError with the ways to give one if `source` has no token for `row`, and with what is
// wrong if the one that choose_token() would take is none. It looks into the file and keeps
// nothing.
void require_token(const TokenSource& source, const TrackerRow& row);

// In the filing process: the token for `row`, from what the pipe held or from the file. In order:
// DIFFFUZZ_TOKEN, the file, the tracker's own variables. Throws UsageError, never with the token in
// it.
std::string choose_token(const std::string& pipe_content, const std::string& file,
                         const TrackerRow& row);

}  // namespace difffuzz

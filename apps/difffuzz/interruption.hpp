// What an interruption does where nothing is to be saved yet.
#pragma once

namespace difffuzz {

// From now on SIGINT and SIGTERM end this process with one sentence and ExitCode::interrupted. What
// it started ends with it.  A campaign, which has something to save, puts its own handlers in
// place. Not for workers: they end with the process that started them.
void end_when_interrupted();

}  // namespace difffuzz

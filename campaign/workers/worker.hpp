// A worker's life: set up its sandbox, run the cases it is given, answer.
#pragma once

#include "campaign/evidence/stage.hpp"

namespace difffuzz {

// Serves the socket (descriptor 3 of a process started by start_worker) until it closes. Returns
// the process's exit code. `extra` makes further files of a full record.
int serve_worker(int socket, const ExtraFiles& extra);

}  // namespace difffuzz

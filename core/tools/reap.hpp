// Ends what a command left behind. For the first process of a PID namespace only: the processes it
// ends are all there are.
#pragma once

#include <cstdint>

namespace difffuzz {

// How long a killed process may take to be gone. It takes longer only when the kernel is stuck.
constexpr int reap_seconds = 5;

struct Leftovers {
    std::uint32_t processes = 0;
    std::uint32_t threads = 0;
};

// Counts the processes that still run, kills them until this process has no child, and returns the
// count. Children that have ended already are reaped and not counted. Throws std::system_error when
// one does not go within reap_seconds.
Leftovers end_leftovers();

// SIGKILL to all processes of the namespace but this one.
void kill_all();

}  // namespace difffuzz

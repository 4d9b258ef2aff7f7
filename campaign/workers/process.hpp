// Starts difffuzz's own helper processes (workers). The one file that does.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace difffuzz {

// A worker: difffuzz executed anew as the first process of its own PID, mount, network and user
// namespaces, killed by the kernel when this process dies. When it ends, everything in it ends.
struct WorkerProcess {
    pid_t pid = -1;   // as seen here
    int pidfd = -1;   // owned by whoever holds this value; becomes readable when it ends
    int socket = -1;  // owned likewise: this side of a SOCK_STREAM pair
};

// Starts `executable` with `arguments` (argv[0] excluded); the worker finds its end of the socket
// pair as descriptor 3 and nothing else above 2. Its stdin is /dev/null; stdout and stderr are
// inherited (stderr carries its log). Throws EnvironmentError (core/errors.hpp) in one sentence
// with the remedy when namespaces are not to be had.
//
// The parent-death signal is that of the calling thread: call it from one that lives as long as the
// worker may. Steps: clone into the namespaces (as root without a user namespace where the system
// refuses one); the parent writes the maps of users and groups (root: all that it has, each to
// itself; else the user to itself); the child then arms the signal, keeps its capabilities over the
// exec, and executes.
WorkerProcess start_worker(const std::string& executable,
                           const std::vector<std::string>& arguments);

// In a worker: whether start_worker gave it a user namespace of its own.
bool worker_has_user_namespace();

// In a worker: arms the parent-death signal again, which any change of credentials clears, and ends
// the process when the parent is gone already (its end of the socket is closed).
void die_with_parent();

// Another helper of ours: difffuzz executed anew without namespaces of its own.
struct HelperProcess {
    pid_t pid = -1;
    int input = -1;   // owned by whoever holds this value: its standard input
    int output = -1;  // owned likewise: its standard output
};

// Starts `executable` with `arguments` (argv[0] excluded). It inherits stderr, finds `handed_over`
// (-1: none) as descriptor 3, and nothing else above that. Throws EnvironmentError.
HelperProcess start_helper(const std::string& executable, const std::vector<std::string>& arguments,
                           int handed_over);
// Waits for its end.
void wait_for_helper(const HelperProcess& helper);
// In a helper: makes it end when its parent does, also when that has happened already.
void end_with_parent();

}  // namespace difffuzz

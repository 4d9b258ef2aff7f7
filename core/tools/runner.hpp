// run(): the only way that difffuzz starts a tool.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/tools/command.hpp"

namespace difffuzz {

// Who a tool runs as. With `change` false the identity of this process is kept (no root: the user
// is mapped to itself); capabilities go either way.
struct Identity {
    bool change = false;
    unsigned uid = 0;
    unsigned gid = 0;
};

// What containment is really in force for commands of this runner, for the record and the summary.
struct Containment {
    bool pid_namespace = false;  // this process is the first of its own PID namespace
    bool landlock = false;       // writes outside Command::writable are refused by the kernel
    int landlock_abi = 0;
    bool memory_cgroup = false;
    bool no_new_privileges = true;
    bool unprivileged_user = false;  // tools are not root (they never have a capability)
};

struct RunnerOptions {
    Identity identity;
    // Directory of a writable memory cgroup that tools join, or empty when there is none.
    std::string memory_cgroup;
    // Bytes that this group may be charged beyond Limits::memory_bytes: what the file systems that
    // tools write to may hold, and this process itself when it is in the group.
    std::uint64_t memory_reserve = 0;
    // This process has a user namespace of its own, so that processes are counted per worker and
    // RLIMIT_NPROC is no other's business.
    bool own_user_namespace = false;
    // Read-only trees that tools may read and execute (Landlock); the writable ones are added.
    // Looked up when a command runs, in the root that this process has by then.
    std::vector<std::string> readable;
};

// Starts commands one at a time. Must live in a process that is the first one of its own PID
// namespace (campaign/execution/worker starts it so): everything a command leaves behind becomes a
// child of this process, is counted in Outcome::processes_left, and is killed before run() returns,
// whatever session or group it moved to. Not thread-safe.
class Runner {
public:
    // Throws std::logic_error in a process that is not the first one of a PID namespace: there,
    // killing what is left would kill what is not ours. Throws std::system_error when the memory
    // cgroup cannot be used.
    explicit Runner(RunnerOptions options);
    ~Runner();
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    // Never throws for what the command does; throws std::system_error when this process itself
    // cannot go on (no descriptors, no memory, a process that does not end on SIGKILL), which
    // leaves it unfit for more. This process may have no child of its own.
    Outcome run(const Command& command);

    Containment containment() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace difffuzz

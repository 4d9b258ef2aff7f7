// What a new process does between vfork and exec.
#pragma once

#include <cstdint>

#include "core/tools/runner.hpp"

namespace difffuzz {

// The steps that turn a copy of this process into a contained command. Filled by the parent,
// applied in the child, which shares its memory with the waiting parent: apply() allocates nothing,
// makes only system calls, and leaves its result in `failed_step` and `error_number` for the
// parent.
//
//  1. a session (so a process group) of its own, and the first victim when memory runs out
//  2. stdin, stdout and stderr
//  3. resource limits and the umask
//  4. user, groups, working directory
//  5. no capability left, no way to new privileges, Landlock
//  6. signals as a program expects them
struct ChildSetup {
    int input = -1;
    int output = -1;
    int error = -1;
    const char* directory = "/";
    Identity identity;
    std::uint64_t file_bytes = 0;
    std::uint64_t processes = 0;  // 0: not limited here
    std::uint32_t file_mask = 022;
    int landlock = -1;  // rule set, or -1 for none

    const char* failed_step = nullptr;  // a literal
    int error_number = 0;

    // Whether all steps were done.
    bool apply() noexcept;

private:
    bool fail(const char* step, int number) noexcept;
    bool start_session() noexcept;
    bool set_streams() noexcept;
    bool set_limits() noexcept;
    bool change_identity() noexcept;
    bool drop_privileges() noexcept;
    bool reset_signals() noexcept;
};

}  // namespace difffuzz

// What a process of this PID namespace did, told after its end.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

// The file that tells what process `pid` writes; opened while it runs, since that of a process that
// has ended belongs to root. Invalid where that fails.
FileDescriptor open_account(pid_t pid);

// Bytes that the process handed to write calls of any kind: files, pipes and all (proc(5),
// /proc/PID/io: wchar), beginning with the few that its start takes. It has ended and was not
// waited for yet. What its children wrote is not in it. Nothing where the kernel does not tell.
std::optional<std::uint64_t> bytes_written(const FileDescriptor& account);

// Processes and threads that were started in this PID namespace from process `pid` on, itself
// included: numbers are given out in order, and proc(5) /proc/loadavg ends with the latest. Nothing
// where the kernel does not tell, or the numbers began anew meanwhile.
std::optional<std::uint64_t> tasks_since(pid_t pid);

}  // namespace difffuzz

// What a process of this PID namespace did, told after its end.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace difffuzz {

// Bytes that process `pid` handed to write calls of any kind: files, pipes and all (proc(5),
// /proc/PID/io: wchar). It has ended and was not waited for yet. What its children wrote is not in
// it; the few bytes that its start took before the program was there are. Nothing where the kernel
// does not tell: the file of a process that has ended belongs to root.
std::optional<std::uint64_t> bytes_written(pid_t pid);

// Processes and threads that were started in this PID namespace from process `pid` on, itself
// included: numbers are given out in order, and proc(5) /proc/loadavg ends with the latest. Nothing
// where the kernel does not tell, or the numbers began anew meanwhile.
std::optional<std::uint64_t> tasks_since(pid_t pid);

}  // namespace difffuzz

// Looks at the processes of this PID namespace.
#pragma once

#include <cstdint>

namespace difffuzz {

// All processes but this one and those that have ended.
struct ProcessSurvey {
    std::uint32_t processes = 0;
    std::uint32_t threads = 0;  // of those processes, each has at least one
    // Sum of their resident sets, where shared pages count for each, and of all System V shared
    // memory, which may have no process.
    std::uint64_t resident_bytes = 0;
};

// Reads /proc (proc(5), /proc/PID/stat: state, num_threads, rss). Processes that end meanwhile are
// left out. Throws std::system_error when /proc cannot be read.
ProcessSurvey survey_processes();

}  // namespace difffuzz

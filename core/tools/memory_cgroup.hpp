// The memory limit and the kills of a control group, version 1 or 2.
#pragma once

#include <cstdint>
#include <string>

#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

// Holds the files of one memory control group open, so that it works after a change of root. An
// object made from an empty path does nothing.
class MemoryCgroup {
public:
    // `directory` is the group's; throws std::system_error naming the file that is not there.
    explicit MemoryCgroup(const std::string& directory);

    bool present() const { return limit_.valid(); }

    // Bytes that the group may be charged; no call into the kernel when it is the limit already.
    // Throws std::system_error.
    void set_limit(std::uint64_t bytes);

    // Processes of the group that the kernel killed for want of memory, ever. Throws
    // std::system_error.
    std::uint64_t kills() const;

private:
    FileDescriptor limit_;  // v1 memory.limit_in_bytes, v2 memory.max
    FileDescriptor
        events_;  // v1 memory.oom_control, v2 memory.events; both have a line "oom_kill N"
    std::uint64_t bytes_ = 0;
};

}  // namespace difffuzz

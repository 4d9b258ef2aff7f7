// A memory control group for this worker, where the system lets us have one.
#pragma once

#include <string>

#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

// Makes a group below (version 1) or beside (version 2, which allows no processes in an inner
// group) the one that this process is in, and moves this process into it, so that what it starts is
// in it from its first instruction. Must be made before the root changes. Leaves and removes the
// group in the end; what a killed worker left behind is removed by the next one.
class WorkerCgroup {
public:
    WorkerCgroup();
    ~WorkerCgroup();
    WorkerCgroup(const WorkerCgroup&) = delete;
    WorkerCgroup& operator=(const WorkerCgroup&) = delete;

    // The group's directory as seen before the root changed; empty when there is none.
    const std::string& directory() const { return directory_; }

private:
    void join(const std::string& parent, const std::string& original);

    std::string directory_;
    std::string name_;
    FileDescriptor parent_;
    FileDescriptor original_processes_;  // cgroup.procs of the group that it came from
};

}  // namespace difffuzz

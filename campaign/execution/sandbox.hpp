// The inside of a worker: its root, the tools it can start, and the two workspaces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "campaign/execution/file_stamp.hpp"
#include "core/tools/runner.hpp"

namespace difffuzz {

// A tool as the user named it, on the host.
struct ToolSource {
    std::string name;     // the neutral name it gets inside: "subject", "reference", ...
    std::string program;  // absolute host path
    // Name of an earlier tool of the same list that this one hands its commands on to, for a
    // stand-in (core/tools/stand_in.hpp); empty for all others.
    std::string stands_in_for = {};
};

struct SandboxOptions {
    std::vector<ToolSource> tools;
    std::vector<std::string> exposed;  // further host trees, mounted read-only at the same path
    Identity run_as;                   // used when this worker was started by root
    std::uint64_t disk_bytes = std::uint64_t{512} << 20;  // size of each workspace's file system
};

// One tool as found inside.
struct SandboxTool {
    std::string name;
    std::string program;  // path inside the worker's root
    // Host paths of what the program needs to run (itself, loader, shared libraries; for a tree of
    // scripts/get-qemu-img those that its identity.json lists), sorted; for the tool's identity.
    std::vector<std::string> files;
    // Of `files` and the path that the user named, as they were when they were bound.
    std::vector<FileStamp> stamps;
    // "NAME=value" entries that its commands need besides their own, to find libraries that the
    // system does not have.
    std::vector<std::string> environment;
    bool stand_in = false;  // it hands its commands on to another tool
};

// Builds the worker's world and holds it. Construct once, right after start, in a process started
// by start_worker(): makes a private root (a small tmpfs with /usr, /lib*, /bin, /etc bound
// read-only, a fresh /proc, a few harmless devices, each tool and its libraries bound read-only
// under /tool/NAME so that it works from a 0700 home) and one tmpfs of disk_bytes per side, and
// moves into it. Nothing of the host can be written from then on, and nothing outside the trees
// named can be read. Throws EnvironmentError in one sentence with the remedy.
//
// As root, files that the constructing thread makes from then on belong to run_as, so that the
// tools can write what was built for them; the thread keeps its capabilities.
class Sandbox {
public:
    explicit Sandbox(const SandboxOptions& options);
    ~Sandbox();
    Sandbox(const Sandbox&) = delete;
    Sandbox& operator=(const Sandbox&) = delete;

    const std::vector<SandboxTool>& tools() const;

    // Number of sides (workspaces): 0 and 1 are the twins, one is for building images, and one for
    // what is run again.
    static constexpr int sides = 4;
    static constexpr int build_side = 2;
    static constexpr int again_side = 3;

    // Absolute path inside of the working directory of a side, "/side/N/w", for again_side some
    // directories deeper (`deeper_place`); beside it ".../t" is the side's TMPDIR.
    std::string directory(int side) const;

    // Empties a side, whatever a tool left there (undeletable directories, mounts of its own, a
    // full disk): removes what is in it, and mounts a fresh file system when that fails.
    void reset(int side);

    // Bytes of storage in use on a side's file system.
    std::uint64_t disk_used(int side) const;

    // Starts commands inside. `command.limits.disk_bytes` is watched for the side that holds
    // `command.directory`.
    Outcome run(const Command& command);
    // Called with every command before it starts: how benchmarks measure what containment costs.
    void before_each(std::function<void(const Command&)> observer);

    // What is in force, for the record: see Containment.
    Containment containment() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace difffuzz

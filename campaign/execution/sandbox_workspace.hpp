// One side's file system: where its commands run.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace difffuzz {

// A tmpfs at `root` of `bytes` with two directories, "w" to work in and "t" for temporary files,
// that belong to the user that tools run as. All members throw EnvironmentError.
class Workspace {
public:
    // Ids -1: those of this process, whose namespace then knows no other. Otherwise the file system
    // itself belongs to root, so that tools cannot change it.
    Workspace(std::string root, std::uint64_t bytes, uid_t uid, gid_t gid);

    std::string directory() const { return root_ + "/w"; }

    // Leaves both directories empty, whatever is there. Removes what it finds; mounts a fresh file
    // system when there is too much of it, it is nested too deep, or it cannot be removed.
    void reset();

    // Bytes of storage in use.
    std::uint64_t used() const;

private:
    void mount_fresh();
    bool make_directory(const std::string& name) const;
    bool empty_in_place() const;

    std::string root_;
    std::uint64_t bytes_;
    uid_t uid_;
    gid_t gid_;
};

}  // namespace difffuzz

// Hashes of files that need not be read again, since nothing wrote to them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

// Every way to change the bytes of a file needs a descriptor that is open for writing, or truncates
// it by name, and the kernel reports both of the inode, by whatever name it was opened: IN_MODIFY,
// and IN_CLOSE_WRITE once the last descriptor and mapping is gone (inotify(7)). So a file that was
// only opened for reading is known to be what it was. To be asked when all processes that could
// write have ended. Where the kernel grants no watch, nothing is known and all is read.
class KnownHashes {
public:
    KnownHashes();

    // Forgets all, for a workspace that starts anew.
    void clear();

    // From now on `path`, a regular file, is known to have `hash` as long as nothing writes to it.
    void remember(const std::string& path, std::uint64_t hash);

    // The hash of `path`, a regular file, if it was not written to or replaced since it was
    // remembered.
    std::optional<std::uint64_t> find(const std::string& path);

private:
    void take_events();

    FileDescriptor events_;
    std::map<int, std::string> paths_;  // by watch
    std::map<std::string, std::uint64_t> hashes_;
};

}  // namespace difffuzz

// Landlock rule sets for commands (Linux, Documentation/userspace-api/landlock.rst).
#pragma once

#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

// The Landlock ABI of the running kernel; 0 when it has none or it is switched off.
int landlock_abi();

// Rule sets by writable and readable directories, made when first asked for and kept. A rule
// belongs to an inode, so a set is made anew when one of its directories is no longer the same.
class LandlockRules {
public:
    // `readable`: trees that may be read and executed, absolute. A few harmless devices may be read
    // and written besides.
    LandlockRules(int abi, std::vector<std::string> readable);

    // Descriptor of the rule set that lets a process do everything below `writable` and read below
    // the readable trees and `readable`; owned by this object and valid until the next call. Throws
    // std::system_error naming the path or the step that failed.
    int rule_set(const std::vector<std::string>& writable,
                 const std::vector<std::string>& readable);

private:
    struct Directory {
        FileDescriptor held;  // keeps the inode, so that its number is not given to another
        dev_t device = 0;
        ino_t inode = 0;
    };
    struct Entry {
        FileDescriptor rules;
        std::vector<Directory> directories;
    };

    // The writable directories, then the readable ones.
    using Key = std::pair<std::vector<std::string>, std::vector<std::string>>;

    Entry make(const Key& key) const;

    int abi_;
    std::vector<std::string> readable_;
    std::map<Key, Entry> entries_;
};

// Puts the calling thread under a rule set for good; 0 or an errno. Safe after vfork. The thread
// must have no_new_privs set.
int landlock_restrict(int rule_set);

}  // namespace difffuzz

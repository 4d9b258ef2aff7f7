// Records and recipes that a command is given, and a place for what it makes on the way.
#pragma once

#include <string>

#include "campaign/evidence/record.hpp"
#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

// A record, or a bare recipe (without a symptom), inside its operation's envelope. UsageError
// naming the file.
ParsedRecord read_record_or_recipe(const std::string& path);

// A directory that is removed with all its content at the end.
class ScratchDirectory {
public:
    ScratchDirectory();
    ~ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    int descriptor() const { return descriptor_.get(); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
    FileDescriptor descriptor_;
};

// The commands of a case as a shell would take them, one a line.
std::string shown_commands(const Case& c);

}  // namespace difffuzz

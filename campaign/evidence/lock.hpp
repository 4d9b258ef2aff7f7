// One owner per evidence directory.
#pragma once

#include <string>

#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

// Held until destruction; the kernel releases a dead owner's. Throws EnvironmentError naming the
// directory when another process holds it.
class EvidenceLock {
public:
    explicit EvidenceLock(const std::string& directory);

private:
    FileDescriptor file_;
};

// Keeps owners away while the evidence is read; does nothing where there is no lock file (a copy of
// evidence). The same error.
FileDescriptor share_evidence(const std::string& directory);

}  // namespace difffuzz

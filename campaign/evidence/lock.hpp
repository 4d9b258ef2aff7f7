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

}  // namespace difffuzz

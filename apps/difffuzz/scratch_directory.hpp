// A directory of our own for as long as a command runs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "campaign/evidence/files.hpp"
#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

// Made below the system's temporary directory; removed with all its content at the end. Throws
// EnvironmentError.
class ScratchDirectory {
public:
    ScratchDirectory() {
        std::string path = (std::filesystem::temp_directory_path() / "difffuzz-XXXXXX").string();
        if (::mkdtemp(path.data()) == nullptr) {
            throw EnvironmentError("cannot make a directory below " +
                                   std::filesystem::temp_directory_path().string());
        }
        path_ = path;
        descriptor_ = FileDescriptor(open_directory(path_));
    }
    ~ScratchDirectory() {
        std::error_code ignored;  // nothing can be done about it at this point
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    const std::string& path() const { return path_; }
    int descriptor() const { return descriptor_.get(); }

private:
    std::string path_;
    FileDescriptor descriptor_;
};

}  // namespace difffuzz

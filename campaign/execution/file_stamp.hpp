// Whether the files that a tool is made of are still those that it was identified by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace difffuzz {

// Which file a path leads to, and when it was last written. All numbers are 0 where there is none.
struct FileStamp {
    std::string path;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t bytes = 0;
    std::int64_t modified_ns = 0;  // since the epoch
    bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_file(const std::string& path);
std::vector<FileStamp> stamp_files(const std::vector<std::string>& paths);

// A path whose stamps differ, or that only one of the two lists has.
std::optional<std::string> changed_file(const std::vector<FileStamp>& before,
                                        const std::vector<FileStamp>& now);

// Throws EnvironmentError naming the role of the tool ("subject", "reference", "io") and the file
// when the two differ.
void require_same_files(const std::string& tool, const std::vector<FileStamp>& before,
                        const std::vector<FileStamp>& now);
// The same for the files as they are now.
void require_unchanged(const std::string& tool, const std::vector<FileStamp>& before);

}  // namespace difffuzz

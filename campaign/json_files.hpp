// Directories of JSON files that people keep: probes, and the entries of a corpus.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace difffuzz {

struct JsonFile {
    std::string name;  // path below the directory, without ".json"; '/' between its parts
    std::string path;  // of the file, as it is opened
    std::string text;
};

// More files than this are refused, and so is one that is larger.
inline constexpr std::size_t max_json_files = 10'000;
inline constexpr std::size_t max_json_file_bytes = std::size_t{4} << 20;

// All files "*.json" below `directory`, in the order of their names; directories whose name begins
// with a dot are passed over, and links to directories are not followed. Throws UsageError naming
// the directory, or the file and what is wrong: no such directory, no file, one that is empty, too
// large, unreadable or no regular file (a symbolic link is none).
std::vector<JsonFile> read_json_files(const std::string& directory);

}  // namespace difffuzz

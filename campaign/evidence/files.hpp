// Evidence files: each is old or new, never half.
#pragma once

#include <string>
#include <string_view>

namespace difffuzz {

// Replaces `name` below the directory `directory`: writes beside it, syncs, renames, syncs the
// directory. Throws EnvironmentError naming the file (a full disk, a read-only directory).
void write_file(int directory, const std::string& name, std::string_view content);
void write_file(const std::string& directory, const std::string& name, std::string_view content);

// Whole file, at most `max_bytes`. Throws UsageError naming the file and what is wrong.
std::string read_file(const std::string& path, std::size_t max_bytes);

// Makes `name` below `directory` (one level), which may exist already. Throws EnvironmentError.
void make_directory(int directory, const std::string& name);
// Makes a directory and those above it. Throws EnvironmentError.
void make_evidence_directories(const std::string& path);
// Opens a directory; the descriptor is the caller's. Throws EnvironmentError.
int open_directory(int directory, const std::string& name);
int open_directory(const std::string& path);

// Removes a directory of ours with all that is in it, if it exists. Throws EnvironmentError.
void remove_tree(const std::string& path);
// Renames within the evidence and syncs both parents. Throws EnvironmentError.
void move_directory(const std::string& from, const std::string& to);

}  // namespace difffuzz

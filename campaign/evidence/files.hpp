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

// The same for a file of the evidence, which difffuzz made: never through a symbolic link.
std::string read_evidence_file(const std::string& path, std::size_t max_bytes);
// Opens a file of the evidence with `flags` (O_RDWR | O_CREAT, ...; new ones get mode 0644): a
// regular file, no symbolic link, without waiting for anybody. The descriptor is the caller's.
// EnvironmentError naming the file; -1 only if it does not exist and `flags` do not make it.
int open_evidence_file(const std::string& path, int flags);

// Makes `name` below `directory` (one level), which may exist already. Throws EnvironmentError.
void make_directory(int directory, const std::string& name);
// Makes a directory and those above it. Throws EnvironmentError.
void make_evidence_directories(const std::string& path);
// Opens a directory; the descriptor is the caller's. Throws EnvironmentError.
int open_directory(int directory, const std::string& name);
int open_directory(const std::string& path);

// Copies a directory with all that is in it to `to`, which does not exist, and syncs nothing.
// EnvironmentError, also for anything in it that is no directory and no regular file.
void copy_tree(const std::string& from, const std::string& to);
// Removes a directory of ours with all that is in it, if it exists. Throws EnvironmentError.
void remove_tree(const std::string& path);
// Renames within the evidence and syncs both parents. Throws EnvironmentError.
void move_directory(const std::string& from, const std::string& to);
// The same where `to` may exist: the two change places at once, and the old one is removed.
void replace_directory(const std::string& from, const std::string& to);

}  // namespace difffuzz

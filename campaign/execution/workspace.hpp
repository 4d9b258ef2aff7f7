// Files of one side's workspace: cloned, listed, hashed; nothing here follows a link.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "campaign/execution/known_hashes.hpp"
#include "oracles/observation.hpp"

namespace difffuzz {

// Copies a regular file with its holes into each of `to_directories`, and says what it is, with its
// hash. Throws ImageError.
FileEntry clone_file(const std::string& from_directory, std::span<const std::string> to_directories,
                     const std::string& name);

struct Listing {
    std::vector<FileEntry> files;
    bool cut = false;  // there were more entries than `max_listed`
};
inline constexpr std::size_t max_listed = 256;

// Entries below `directory`, sorted by name. Regular files named in `hashed` get their content
// hash, which is taken from `known` or added to it.
Listing list_workspace(const std::string& directory, const std::vector<std::string>& hashed,
                       KnownHashes& known);

// XXH3-64 over the file's non-zero 4 KiB blocks and their places, and its size: equal for equal
// bytes, however they are allocated. Throws ImageError when it cannot be read.
std::uint64_t hash_file(const std::string& directory, const std::string& name);

// SHA-256 over the same: the identity of an input image in a record.
std::string digest_file(const std::string& directory, const std::string& name);

// SHA-256 over the size and the non-zero sectors of a virtual content.
std::string digest_content(const VirtualContent& content);

}  // namespace difffuzz

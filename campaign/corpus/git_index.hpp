// Which files a git repository tracks, read from its index (git's Documentation, index-format).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace difffuzz {

// Paths of an index file's entries, relative to the top of the work tree. Nothing for what is no
// index of the versions 2 and 3 (git writes 2 unless it is told otherwise), or is cut off.
std::optional<std::set<std::string>> parse_git_index(std::string_view bytes);

struct GitTracking {
    std::string top;  // of the work tree, absolute; empty: the directory lies in none
    // Nothing where the index cannot be read.
    std::optional<std::set<std::string>> tracked;
};

// Of the work tree that `directory` lies in: the nearest directory above it, or itself, that holds
// ".git".
GitTracking git_tracking(const std::string& directory);

// Whether the file, absolute, is tracked. True where that cannot be told.
bool is_tracked(const GitTracking& tracking, const std::string& path);

}  // namespace difffuzz

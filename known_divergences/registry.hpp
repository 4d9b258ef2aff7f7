// The known divergences that a run goes by: those that are built in, and a directory of the user's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "known_divergences/entry.hpp"

namespace difffuzz {

struct EntryFile {
    std::string name;  // as messages call it
    std::string text;
};

// The files of known_divergences/ in the source tree, as built in; sorted by name.
std::vector<EntryFile> built_in_entry_files();
// The *.toml files of a directory, sorted by name. Throws UsageError: it cannot be read, there is
// none in it, or one is not a regular file or too large.
std::vector<EntryFile> read_entry_files(const std::string& directory);

struct Registry {
    std::vector<EntryFile> files;
    std::vector<KnownDivergence> entries;  // of `files`, by id
};
// Throws UsageError for the first file that is no entry, and for an id that is there twice.
Registry make_registry(std::vector<EntryFile> files);

// SHA-256 of all files' texts, in hex: what a plan names its registry by. Empty when there is none.
std::string registry_digest(const std::vector<EntryFile>& files);

}  // namespace difffuzz

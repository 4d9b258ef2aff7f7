#include "known_divergences/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/cases/digest.hpp"
#include "core/errors.hpp"
#include "known_divergences/entry_file.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_files = 1024;

[[noreturn]] void cannot_use(const std::string& directory, const std::string& reason) {
    throw UsageError("cannot use '" + directory +
                     "' as a directory of known divergences: " + reason);
}

EntryFile read_entry_file(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
        throw UsageError("'" + path.string() + "' is not a regular file");
    }
    std::ifstream file(path, std::ios::binary);
    EntryFile result{path.string(), std::string(max_entry_bytes + 1, '\0')};
    file.read(result.text.data(), static_cast<std::streamsize>(result.text.size()));
    result.text.resize(static_cast<std::size_t>(file.gcount()));
    if (!file.is_open() || file.bad()) {
        throw UsageError("cannot read '" + path.string() + "'");
    }
    return result;
}

}  // namespace

std::vector<EntryFile> read_entry_files(const std::string& directory) {
    std::vector<fs::path> paths;
    try {
        for (const auto& entry : fs::directory_iterator(directory)) {
            if (entry.path().extension() == ".toml") {
                paths.push_back(entry.path());
            }
        }
    } catch (const fs::filesystem_error& error) {
        cannot_use(directory, error.code().message());
    }
    if (paths.empty() || paths.size() > max_files) {
        cannot_use(directory, "it must hold 1 to " + std::to_string(max_files) + " .toml files");
    }
    std::sort(paths.begin(), paths.end());
    std::vector<EntryFile> files;
    for (const fs::path& path : paths) {
        files.push_back(read_entry_file(path));
    }
    return files;
}

Registry make_registry(std::vector<EntryFile> files) {
    Registry registry;
    std::map<std::string, std::string> seen;
    for (const EntryFile& file : files) {
        registry.entries.push_back(parse_entry(file.name, file.text));
        const KnownDivergence& entry = registry.entries.back();
        const auto [first, added] = seen.emplace(entry.id, file.name);
        if (!added) {
            refuse_entry(entry.place, entry.id, "'" + first->second + "' has the same id");
        }
    }
    // Which entry comes first does not depend on where the files lie.
    std::ranges::sort(registry.entries, {}, &KnownDivergence::id);
    registry.files = std::move(files);
    return registry;
}

std::string registry_digest(const std::vector<EntryFile>& files) {
    if (files.empty()) {
        return {};
    }
    // By content and in the order of content: where the files lie says nothing.
    std::vector<std::string> digests;
    for (const EntryFile& file : files) {
        digests.push_back(sha256_hex(file.text));
    }
    std::sort(digests.begin(), digests.end());
    Sha256 hash;
    for (const std::string& digest : digests) {
        hash.update(digest);
    }
    return hash.finish_hex();
}

}  // namespace difffuzz

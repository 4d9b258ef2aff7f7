#include "campaign/json_files.hpp"

#include <algorithm>
#include <filesystem>

#include "campaign/evidence/files.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void unusable(const fs::path& path, const std::string& reason) {
    throw UsageError("'" + path.string() + "' cannot be used: " + reason);
}

std::vector<fs::path> json_paths(const std::string& directory) {
    std::error_code error;
    if (!fs::is_directory(directory, error)) {
        unusable(directory, error ? error.message() : "it is no directory");
    }
    std::vector<fs::path> paths;
    fs::recursive_directory_iterator it(directory, error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        const fs::path& path = it->path();
        if (it->is_directory(error) && !it->is_symlink(error)) {
            if (path.filename().string().starts_with('.')) {
                it.disable_recursion_pending();
            }
        } else if (path.extension() == ".json") {
            paths.push_back(path);
        }
        if (paths.size() > max_json_files) {
            unusable(directory, "it holds more than " + std::to_string(max_json_files) + " files");
        }
    }
    if (error) {
        unusable(directory, error.message());
    }
    std::ranges::sort(paths);
    return paths;
}

}  // namespace

std::vector<JsonFile> read_json_files(const std::string& directory) {
    std::vector<JsonFile> files;
    for (const fs::path& path : json_paths(directory)) {
        std::error_code error;
        if (fs::symlink_status(path, error).type() != fs::file_type::regular) {
            unusable(path, "it is no regular file");
        }
        JsonFile file{path.lexically_relative(directory).replace_extension().generic_string(),
                      path.string(), read_file(path.string(), max_json_file_bytes)};
        if (file.text.empty()) {
            unusable(path, "it is empty");
        }
        files.push_back(std::move(file));
    }
    if (files.empty()) {
        unusable(directory, "there is no file '*.json' below it");
    }
    return files;
}

}  // namespace difffuzz

#include "campaign/evidence/manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>

#include "campaign/evidence/files.hpp"
#include "core/cases/digest.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t max_manifest_bytes = std::size_t{64} << 20;
constexpr std::size_t max_digest_bytes = 1024;
constexpr std::size_t max_files = 1'000'000;
constexpr std::size_t max_path_bytes = 1024;
constexpr std::size_t max_ending_bytes = std::size_t{1} << 20;

bool left_aside(const std::string& path) {
    return path == manifest_name || path == manifest_digest_name || path == "lock" ||
           path == "filed.json" || path.starts_with("staging/");
}

bool stays_inside(const std::string& path) {
    if (path.empty() || path.front() == '/' || path.back() == '/') {
        return false;
    }
    return std::ranges::none_of(fs::path(path), [](const fs::path& part) {
        return part == ".." || part == "." || part.empty();
    });
}

// Of a stream as kept (raw/SIDE-stepN.stdout): how many bytes the tool printed, from the file that
// tells how the command ended.
std::optional<std::uint64_t> printed_bytes(const fs::path& stream) {
    const std::string kind = stream.extension();
    if ((kind != ".stdout" && kind != ".stderr") || stream.parent_path().filename() != "raw") {
        return std::nullopt;
    }
    fs::path ending = stream;
    ending.replace_extension(".json");
    try {
        const json told =
            parse_bounded(read_evidence_file(ending, max_ending_bytes), max_ending_bytes);
        return checked_number(told.at(kind.substr(1) + "_bytes"), "", 0, UINT64_MAX);
    } catch (const std::runtime_error&) {
        return std::nullopt;  // no evidence of ours: the file is taken as it is
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

ManifestFile entry_of(const fs::path& file, const std::string& path) {
    ManifestFile entry;
    entry.path = path;
    entry.bytes = fs::file_size(file);
    entry.sha256 = sha256_file_hex(file);
    entry.original_bytes = entry.bytes;
    // What is kept of a stream that was cut has a line in it that says so.
    if (const auto printed = printed_bytes(file); printed && *printed > entry.bytes) {
        entry.original_bytes = *printed;
        entry.removed = std::to_string(*printed - entry.bytes) +
                        " bytes or more between the beginning and the end of the stream";
    }
    return entry;
}

}  // namespace

Manifest make_manifest(const std::string& directory, std::vector<std::string>* others) {
    Manifest manifest;
    try {
        for (const auto& entry : fs::recursive_directory_iterator(directory)) {
            const fs::file_type type = entry.symlink_status().type();
            const std::string path = entry.path().lexically_relative(directory);
            if (type == fs::file_type::directory || left_aside(path)) {
                continue;
            }
            if (type != fs::file_type::regular && others != nullptr) {
                others->push_back(path);
                continue;
            }
            if (type != fs::file_type::regular) {
                throw EnvironmentError("'" + entry.path().string() +
                                       "' is no regular file; evidence has nothing else");
            }
            manifest.push_back(entry_of(entry.path(), path));
        }
    } catch (const fs::filesystem_error& error) {
        throw EnvironmentError("cannot look into '" + directory + "': " + error.code().message());
    }
    std::ranges::sort(manifest, {}, &ManifestFile::path);
    return manifest;
}

json to_json(const Manifest& manifest) {
    json files = json::array();
    for (const ManifestFile& file : manifest) {
        files.push_back({{"path", file.path},
                         {"original_bytes", file.original_bytes},
                         {"bytes", file.bytes},
                         {"sha256", file.sha256},
                         {"removed", file.removed}});
    }
    return {{"schema", manifest_schema}, {"files", std::move(files)}};
}

Manifest manifest_from_json(const json& value) {
    ObjectFields fields(value, "");
    require_schema(fields.text("schema", 64), manifest_schema);
    Manifest manifest;
    for (const json& item : fields.array("files", max_files)) {
        const std::string pointer = "/files/" + std::to_string(manifest.size());
        ObjectFields file(item, pointer);
        ManifestFile entry;
        entry.path = file.text("path", max_path_bytes);
        entry.original_bytes = file.number("original_bytes", 0, UINT64_MAX);
        entry.bytes = file.number("bytes", 0, UINT64_MAX);
        entry.sha256 = file.text("sha256", 64);
        entry.removed = file.text("removed", 256);
        file.finish();
        if (!stays_inside(entry.path) ||
            (!manifest.empty() && manifest.back().path >= entry.path)) {
            throw RecipeError(pointer + "/path",
                              "must be a path below the evidence, behind the one before it");
        }
        manifest.push_back(std::move(entry));
    }
    fields.finish();
    return manifest;
}

Manifest parse_manifest(std::string_view text) {
    return manifest_from_json(parse_bounded(text, max_manifest_bytes));
}

std::string manifest_text(const Manifest& manifest) { return to_json(manifest).dump(1) + "\n"; }

std::string manifest_digest(std::string_view text) {
    return sha256_hex(text) + "  " + std::string(manifest_name) + "\n";
}

void write_manifest(const std::string& directory) {
    const std::string text = manifest_text(make_manifest(directory));
    write_file(directory, std::string(manifest_name), text);
    write_file(directory, std::string(manifest_digest_name), manifest_digest(text));
}

ManifestTexts read_manifest(const std::string& directory) {
    return {
        read_evidence_file(directory + "/" + std::string(manifest_name), max_manifest_bytes),
        read_evidence_file(directory + "/" + std::string(manifest_digest_name), max_digest_bytes)};
}

std::vector<std::string> manifest_differences(const Manifest& expected, const Manifest& found) {
    std::map<std::string, const ManifestFile*> there;
    for (const ManifestFile& file : found) {
        there[file.path] = &file;
    }
    std::vector<std::string> differences;
    for (const ManifestFile& file : expected) {
        const auto at = there.find(file.path);
        if (at == there.end()) {
            if (!file.left_out()) {
                differences.push_back("'" + file.path + "' is missing");
            }
            continue;
        }
        if (file.left_out()) {
            differences.push_back("'" + file.path + "' is there, though it was left out");
        } else if (at->second->bytes != file.bytes) {
            differences.push_back("'" + file.path + "' has " + std::to_string(at->second->bytes) +
                                  " bytes, not " + std::to_string(file.bytes));
        } else if (at->second->sha256 != file.sha256) {
            differences.push_back("'" + file.path + "' has changed: its SHA-256 is another");
        }
        there.erase(at);
    }
    for (const auto& [path, file] : there) {
        differences.push_back("'" + path + "' was added: the manifest does not have it");
    }
    return differences;
}

}  // namespace difffuzz

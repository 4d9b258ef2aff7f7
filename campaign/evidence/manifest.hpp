// manifest.json: every file of finished evidence with its size and SHA-256, so that a bundle or a
// copy can be held against it. docs/manifest.schema.json describes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace difffuzz {

inline constexpr std::string_view manifest_schema = "difffuzz.manifest/1";
inline constexpr std::string_view manifest_name = "manifest.json";
// Beside it, in the form that sha256sum --check reads: the manifest's own SHA-256.
inline constexpr std::string_view manifest_digest_name = "manifest.sha256";

struct ManifestFile {
    std::string path;  // below the evidence, with '/'
    std::uint64_t original_bytes =
        0;                    // that there were to keep: of a stream, what the tool printed
    std::uint64_t bytes = 0;  // that are kept
    std::string sha256;       // of these, in hex; empty where the file was left out
    std::string removed;      // what is not kept, in words; empty: nothing
    bool operator==(const ManifestFile&) const = default;
    bool left_out() const { return sha256.empty(); }
};

// Sorted by path.
using Manifest = std::vector<ManifestFile>;

// Of all files of an evidence directory but the manifest itself, the lock, and what belongs to
// filing and is written after the end (filed.json). Throws EnvironmentError naming a file that
// cannot be read, or is neither a directory nor a regular file; the paths of such go to `others`
// instead where there is one.
Manifest make_manifest(const std::string& directory, std::vector<std::string>* others = nullptr);

nlohmann::json to_json(const Manifest& manifest);
// Throws RecipeError: paths are relative and stay inside, sorted, each there once.
Manifest manifest_from_json(const nlohmann::json& json);
Manifest parse_manifest(std::string_view text);
// What the two files hold.
std::string manifest_text(const Manifest& manifest);
std::string manifest_digest(std::string_view text);

// Writes both to a directory that is finished. EnvironmentError.
void write_manifest(const std::string& directory);
// Text of the manifest of a directory, to be parsed, and of the file beside it. UsageError naming
// the file when one cannot be read.
struct ManifestTexts {
    std::string manifest;
    std::string digest;
};
ManifestTexts read_manifest(const std::string& directory);

// What differs between what was to be and what is, a sentence for each file: changed, missing,
// added. Pure.
std::vector<std::string> manifest_differences(const Manifest& expected, const Manifest& found);

}  // namespace difffuzz

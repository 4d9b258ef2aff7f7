// What a tool is: identity, version, formats. Parsed from what it prints; nothing here runs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace difffuzz {

struct ToolFile {
    std::string name;    // file name without directory
    std::string sha256;  // hex
    bool operator==(const ToolFile&) const = default;
};

struct Profile {
    std::string
        identity;  // SHA-256 over `files`, hex: equal programs and libraries, equal identity
    std::string version_text;          // first line of --version, bounded, printable
    std::string version;               // "7.2.22"; empty where the text has none
    std::vector<std::string> formats;  // as listed by --help, sorted
    std::vector<ToolFile> files;       // program and libraries, sorted by name
    bool operator==(const Profile&) const = default;
};

// The first dotted number of a version line: "qemu-img version 7.2.22 (Debian ...)" -> "7.2.22".
std::string parse_version(std::string_view text);
// The words after "Supported formats:" of qemu-img's --help, sorted, without what cannot be the
// name of a format; empty where there is none.
std::vector<std::string> parse_formats(std::string_view help);
// The first line, at most 200 bytes, bytes that are not printable ASCII as '?'.
std::string version_line(std::string_view text);

// Sorts the files and sets the identity from them.
Profile make_profile(std::string_view version_output, std::string_view help_output,
                     std::vector<ToolFile> files);

nlohmann::json to_json(const Profile& profile);
// Throws RecipeError.
Profile profile_from_json(const nlohmann::json& json, const std::string& pointer);

}  // namespace difffuzz

#include "core/tools/profile.hpp"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/cases/digest.hpp"
#include "core/cases/json_fields.hpp"
#include "core/decimal.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_line = 200;
constexpr std::size_t max_items = 4096;

// The name of a format: at most 64 of a-z, 0-9, '_', '-'.
bool is_format_name(std::string_view word) {
    return word.size() <= 64 && std::all_of(word.begin(), word.end(), [](char byte) {
               return (byte >= 'a' && byte <= 'z') || is_digit(byte) || byte == '_' || byte == '-';
           });
}

}  // namespace

std::string parse_version(std::string_view text) {
    text = text.substr(0, text.find('\n'));
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
        if (!is_digit(text[begin])) {
            continue;
        }
        std::size_t end = begin;
        while (end < text.size() &&
               (is_digit(text[end]) ||
                (text[end] == '.' && end + 1 < text.size() && is_digit(text[end + 1])))) {
            ++end;
        }
        if (text.substr(begin, end - begin).find('.') != std::string_view::npos) {
            return std::string(text.substr(begin, std::min<std::size_t>(end - begin, 32)));
        }
        begin = end;
    }
    return {};
}

std::vector<std::string> parse_formats(std::string_view help) {
    constexpr std::string_view label = "Supported formats:";
    const std::size_t at = help.find(label);
    if (at == std::string_view::npos) {
        return {};
    }
    help.remove_prefix(at + label.size());
    // The list ends with the paragraph.
    help = help.substr(0, help.find("\n\n"));
    std::istringstream words{std::string(help)};
    std::vector<std::string> result;
    for (std::string word; words >> word && result.size() < max_items;) {
        if (is_format_name(word)) {
            result.push_back(word);
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::string version_line(std::string_view text) {
    std::string line(text.substr(0, std::min(text.find('\n'), max_line)));
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    return line;
}

Profile make_profile(std::string_view version_output, std::string_view help_output,
                     std::vector<ToolFile> files) {
    std::sort(files.begin(), files.end(), [](const ToolFile& a, const ToolFile& b) {
        return std::tie(a.name, a.sha256) < std::tie(b.name, b.sha256);
    });
    Sha256 hash;
    for (const ToolFile& file : files) {
        hash.update(file.name + " " + file.sha256 + "\n");
    }
    return {hash.finish_hex(), version_line(version_output), parse_version(version_output),
            parse_formats(help_output), std::move(files)};
}

nlohmann::json to_json(const Profile& profile) {
    nlohmann::json files = nlohmann::json::array();
    for (const ToolFile& file : profile.files) {
        files.push_back({{"name", file.name}, {"sha256", file.sha256}});
    }
    return {{"identity", profile.identity},
            {"version_text", profile.version_text},
            {"version", profile.version},
            {"formats", profile.formats},
            {"files", std::move(files)}};
}

Profile profile_from_json(const nlohmann::json& json, const std::string& pointer) {
    ObjectFields fields(json, pointer);
    Profile profile;
    profile.identity = fields.text("identity", 64);
    profile.version_text = fields.text("version_text", max_line);
    profile.version = fields.text("version", 32);
    for (const auto& item : fields.array("formats", max_items)) {
        profile.formats.push_back(checked_text(item, fields.at("formats"), 64));
    }
    for (const auto& item : fields.array("files", max_items)) {
        ObjectFields file(item, fields.at("files"));
        profile.files.push_back({file.text("name", 256), file.text("sha256", 64)});
        file.finish();
    }
    fields.finish();
    return profile;
}

}  // namespace difffuzz

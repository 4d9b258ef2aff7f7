#include "apps/difffuzz/config.hpp"

#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include "campaign/evidence/files.hpp"
#include "core/errors.hpp"
#include "core/toml_nesting.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_config_bytes = 64 << 10;

std::optional<fs::path> nearest_config() {
    const char* home = std::getenv("HOME");
    std::error_code error;
    for (fs::path at = fs::current_path(error); !error && !at.empty(); at = at.parent_path()) {
        if (fs::exists(at / "difffuzz.toml", error)) {
            return at / "difffuzz.toml";
        }
        if (fs::exists(at / ".git", error) || (home != nullptr && at == fs::path(home)) ||
            at == at.root_path()) {
            break;
        }
    }
    return std::nullopt;
}

void require_trusted(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        throw UsageError("cannot look at '" + path.string() + "'");
    }
    if ((status.st_uid != ::geteuid() && status.st_uid != 0) || (status.st_mode & S_IWOTH) != 0) {
        throw UsageError("'" + path.string() +
                         "' belongs to somebody else or can be written by anyone; ignore it with "
                         "--no-config, or make it yours");
    }
}

std::string tool_path(const toml::node& node, const fs::path& file, const std::string& key) {
    const auto text = node.value<std::string>();
    if (!text || text->empty()) {
        throw UsageError("'" + file.string() + "', line " +
                         std::to_string(node.source().begin.line) + ": '" + key +
                         "' must be the path of a program");
    }
    return (file.parent_path() / *text).lexically_normal().string();
}

}  // namespace

std::optional<Config> find_config() {
    const auto path = nearest_config();
    if (!path) {
        return std::nullopt;
    }
    require_trusted(*path);
    Config config;
    config.path = path->string();
    const std::string text = read_file(config.path, max_config_bytes);
    if (const auto line = line_nested_too_deeply(text)) {
        throw UsageError("'" + config.path + "', line " + std::to_string(*line) + ": " +
                         std::string(toml_nesting_reason));
    }
    try {
        const toml::table table = toml::parse(text);
        for (const auto& [key, node] : table) {
            const std::string name(key.str());
            if (name == "subject") {
                config.subject = tool_path(node, *path, name);
            } else if (name == "reference") {
                config.reference = tool_path(node, *path, name);
            } else {
                throw UsageError("'" + config.path + "', line " +
                                 std::to_string(node.source().begin.line) + ": '" + name +
                                 "' is not known; there are subject and reference");
            }
        }
    } catch (const toml::parse_error& error) {
        throw UsageError("'" + config.path + "', line " +
                         std::to_string(error.source().begin.line) + ": " +
                         std::string(error.description()));
    }
    return config;
}

}  // namespace difffuzz

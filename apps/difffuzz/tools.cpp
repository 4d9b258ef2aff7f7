#include "apps/difffuzz/tools.hpp"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>
#include <thread>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/difffuzz/config.hpp"
#include "core/errors.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> on_path(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::istringstream directories(path != nullptr ? path : "/usr/bin:/bin");
    for (std::string directory; std::getline(directories, directory, ':');) {
        const fs::path candidate = fs::path(directory.empty() ? "." : directory) / name;
        if (::access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate)) {
            return candidate.string();
        }
    }
    return std::nullopt;
}

// A program as a user names it: a path, or a name to look up on PATH.
std::string resolve(const std::string& name, const std::string& role) {
    std::string path = name;
    // As in a shell: a file of the working directory needs "./" in front.
    if (name.find('/') == std::string::npos) {
        const auto found = on_path(name);
        if (!found) {
            throw EnvironmentError("the " + role + " '" + name +
                                   "' is not on PATH; give its path (such as ./" + name + ")");
        }
        path = *found;
    }
    std::error_code error;
    if (!fs::exists(path, error)) {
        throw EnvironmentError("the " + role + " '" + path + "' does not exist");
    }
    if (!fs::is_regular_file(path, error)) {
        throw EnvironmentError("the " + role + " '" + path + "' is not a regular file");
    }
    if (::access(path.c_str(), X_OK) != 0) {
        throw EnvironmentError("the " + role + " '" + path +
                               "' cannot be executed; make it executable with chmod +x");
    }
    return fs::absolute(path).lexically_normal().string();
}

std::optional<std::string> from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

// The user's file, unless it is not to be read; says which.
std::optional<Config> config_of(const Flags& flags) {
    auto config = flags.no_config ? std::nullopt : find_config();
    if (config) {
        std::cerr << "difffuzz: using " << printable_text(config->path) << "\n";
    }
    return config;
}

// The first that is there of flag, environment and file.
std::optional<std::string> named(const std::string& flag, const char* variable,
                                 const std::optional<std::string>& configured) {
    if (!flag.empty()) {
        return flag;
    }
    const auto value = from_environment(variable);
    return value ? value : configured;
}

std::string reference_of(const Flags& flags, const std::optional<Config>& config) {
    const auto reference =
        named(flags.reference, "DIFFFUZZ_REFERENCE", config ? config->reference : std::nullopt);
    return resolve(reference.value_or("qemu-img"), "reference");
}

std::string subject_of(const Flags& flags, const std::optional<Config>& config) {
    const auto subject =
        named(flags.subject, "DIFFFUZZ_SUBJECT", config ? config->subject : std::nullopt);
    if (!subject) {
        throw UsageError(
            "no subject: name the tool under test with --subject PATH, with the "
            "environment variable DIFFFUZZ_SUBJECT, or with subject = \"PATH\" in "
            "difffuzz.toml");
    }
    return resolve(*subject, "subject");
}

}  // namespace

ToolPaths find_tools(const Flags& flags) {
    const auto config =
        flags.subject.empty() || flags.reference.empty() ? config_of(flags) : std::nullopt;
    std::string subject = subject_of(flags, config);
    return {std::move(subject), reference_of(flags, config)};
}

std::string find_subject(const Flags& flags) {
    return subject_of(flags, flags.subject.empty() ? config_of(flags) : std::nullopt);
}

std::string find_baseline(const Flags& flags) {
    return flags.baseline.empty() ? "" : resolve(flags.baseline, "baseline");
}

std::string find_reference(const Flags& flags) {
    return reference_of(flags, flags.reference.empty() ? config_of(flags) : std::nullopt);
}

std::vector<std::string> exposed_from(const Flags& flags) {
    std::vector<std::string> exposed;
    for (const std::string& named : flags.exposed) {
        std::error_code error;
        const fs::path real = fs::canonical(named, error);
        if (error) {
            throw UsageError("--expose: cannot use '" + named + "': " + error.message());
        }
        if (!fs::is_directory(real, error)) {
            throw UsageError("--expose: '" + named + "' is not a directory");
        }
        if (real == real.root_path()) {
            throw UsageError(
                "--expose: '" + named +
                "' is the root of the file system; name only the directories that tools need");
        }
        fs::path path = fs::absolute(named).lexically_normal();
        // Without the slash at its end.
        exposed.push_back(path.has_filename() ? path : path.parent_path());
    }
    return exposed;
}

Identity tool_identity(const Flags& flags) {
    if (::geteuid() != 0) {
        if (!flags.run_as.empty()) {
            throw UsageError("--run-as needs difffuzz to be started by root");
        }
        return {};
    }
    const std::string name = flags.run_as.empty() ? "nobody" : flags.run_as;
    const passwd* user = ::getpwnam(name.c_str());
    if (user == nullptr) {
        throw UsageError("--run-as: there is no user '" + name + "'");
    }
    if (user->pw_uid == 0) {
        throw UsageError("--run-as: tools are not run as root; name another user");
    }
    return {true, user->pw_uid, user->pw_gid};
}

Limits limits_from(const Flags& flags) {
    Limits limits;
    limits.time = flags.timeout;
    limits.memory_bytes = flags.memory_limit_mib << 20;
    limits.disk_bytes = flags.disk_limit_mib << 20;
    return limits;
}

unsigned jobs_from(const Flags& flags) {
    return flags.jobs != 0 ? flags.jobs : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace difffuzz

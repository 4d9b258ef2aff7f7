#include "campaign/execution/sandbox_cgroup.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace difffuzz {
namespace {

constexpr std::string_view name_prefix = "difffuzz-";

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

bool has_word(std::string_view text, std::string_view word, char separator) {
    const std::string padded = separator + std::string(text) + separator;
    return padded.find(separator + std::string(word) + separator) != std::string::npos;
}

// Where a hierarchy is mounted, and which of its groups is seen there as the root.
struct Hierarchy {
    std::string mount_point;
    std::string root;
};

// proc(5), /proc/PID/mountinfo: fields 4 (root) and 5 (mount point), after a lone "-" the type, the
// source and the super block's options.
std::optional<Hierarchy> find_hierarchy(std::string_view type, std::string_view option) {
    std::ifstream lines("/proc/self/mountinfo");
    std::string line;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string skipped;
        Hierarchy result;
        words >> skipped >> skipped >> skipped >> result.root >> result.mount_point;
        while (words >> skipped && skipped != "-") {
        }
        std::string found_type;
        std::string options;
        words >> found_type >> skipped >> options;
        if (found_type == type && (option.empty() || has_word(options, option, ','))) {
            return result;
        }
    }
    return std::nullopt;
}

// cgroups(7), /proc/PID/cgroup: lines "ID:CONTROLLERS:PATH"; version 2 has no controllers there.
std::optional<std::string> own_group(std::string_view controller) {
    std::ifstream lines("/proc/self/cgroup");
    std::string line;
    while (std::getline(lines, line)) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const auto controllers = line.substr(first + 1, second - first - 1);
        if (controller.empty() ? controllers.empty() : has_word(controllers, controller, ',')) {
            return line.substr(second + 1);
        }
    }
    return std::nullopt;
}

std::optional<std::string> own_directory(std::string_view type, std::string_view controller) {
    const auto hierarchy = find_hierarchy(type, controller);
    const auto group = own_group(controller);
    if (!hierarchy || !group) {
        return std::nullopt;
    }
    std::string below = *group;
    if (hierarchy->root != "/" && below.starts_with(hierarchy->root)) {
        below.erase(0, hierarchy->root.size());
    }
    while (!below.empty() && below.back() == '/') {
        below.pop_back();
    }
    return hierarchy->mount_point + below;
}

void remove_abandoned(const std::string& parent) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(parent, error), end; !error && at != end;
         at.increment(error)) {
        if (at->path().filename().string().starts_with(name_prefix)) {
            // Refused for a group with processes in it, which is somebody's.
            ::rmdir(at->path().c_str());
        }
    }
}

}  // namespace

WorkerCgroup::WorkerCgroup() {
    if (const auto own = own_directory("cgroup", "memory")) {
        join(*own, *own);
        return;
    }
    const auto own = own_directory("cgroup2", "");
    if (!own) {
        return;
    }
    const auto gives_memory = [](const std::string& group) {
        return has_word(first_line(group + "/cgroup.subtree_control"), "memory", ' ');
    };
    const auto parent = std::filesystem::path(*own).parent_path().string();
    if (gives_memory(*own)) {
        join(*own, *own);
    } else if (first_line(*own + "/memory.max") == "max" && gives_memory(parent)) {
        // Only where that evades no limit that somebody has set for us.
        join(parent, *own);
    }
}

WorkerCgroup::~WorkerCgroup() {
    if (!directory_.empty() && ::write(original_processes_.get(), "0", 1) == 1) {
        ::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR);
    }
}

void WorkerCgroup::join(const std::string& parent, const std::string& original) {
    remove_abandoned(parent);
    // The host's /proc still shows this process under its number there, which no other worker has.
    std::array<char, 32> number{};
    if (::readlink("/proc/self", number.data(), number.size() - 1) <= 0) {
        return;
    }
    name_ = std::string(name_prefix) + number.data();
    const auto directory = parent + "/" + name_;
    parent_ = FileDescriptor(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    original_processes_ =
        FileDescriptor(::open((original + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!parent_.valid() || !original_processes_.valid()) {
        return;
    }
    // Another worker may take the empty group for an abandoned one and remove it.
    constexpr int attempts = 20;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
            return;
        }
        const FileDescriptor processes(
            ::open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
        if (processes.valid() && ::write(processes.get(), "0", 1) == 1) {
            directory_ = directory;
            return;
        }
    }
    ::rmdir(directory.c_str());
    return;
}

}  // namespace difffuzz

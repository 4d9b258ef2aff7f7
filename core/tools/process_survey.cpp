#include "core/tools/process_survey.hpp"

#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include "core/tools/file_descriptor.hpp"
#include "core/tools/ipc_objects.hpp"

namespace difffuzz {
namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

struct Entry {
    char state = 'Z';
    std::uint32_t threads = 0;
    std::uint64_t resident_pages = 0;
};

// Fields 3 (state), 20 (num_threads) and 24 (rss) of proc(5). The name in field 2 may hold
// anything, parentheses and spaces included, so counting starts after the last one.
std::optional<Entry> parse_stat(std::string_view text) {
    const auto name_end = text.rfind(')');
    if (name_end == std::string_view::npos) {
        return std::nullopt;
    }
    Entry entry;
    std::size_t at = name_end + 1;
    for (int field = 3; field <= 24; ++field) {
        at = text.find_first_not_of(' ', at);
        if (at == std::string_view::npos) {
            return std::nullopt;
        }
        const std::string value(text.substr(at, text.find(' ', at) - at));
        if (field == 3) {
            entry.state = value[0];
        } else if (field == 20) {
            entry.threads = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
        } else if (field == 24) {
            entry.resident_pages = std::strtoull(value.c_str(), nullptr, 10);
        }
        at += value.size();
    }
    return entry;
}

std::optional<Entry> read_entry(int proc, const char* pid) {
    const auto path = std::string(pid) + "/stat";
    const FileDescriptor file(::openat(proc, path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 1024> text;
    const auto size = file.valid() ? ::read(file.get(), text.data(), text.size()) : -1;
    if (size <= 0) {
        return std::nullopt;
    }
    return parse_stat({text.data(), static_cast<std::size_t>(size)});
}

}  // namespace

ProcessSurvey survey_processes() {
    const std::unique_ptr<DIR, CloseDirectory> proc(::opendir("/proc"));
    if (!proc) {
        throw std::system_error(errno, std::generic_category(), "/proc");
    }
    const auto self = std::to_string(::getpid());
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    ProcessSurvey survey;
    survey.resident_bytes = shared_memory_bytes();
    while (const dirent* item = ::readdir(proc.get())) {
        if (std::isdigit(static_cast<unsigned char>(item->d_name[0])) == 0 ||
            self == item->d_name) {
            continue;
        }
        const auto entry = read_entry(::dirfd(proc.get()), item->d_name);
        if (!entry || entry->state == 'Z' || entry->state == 'X') {
            continue;
        }
        ++survey.processes;
        survey.threads += entry->threads;
        survey.resident_bytes += entry->resident_pages * page;
    }
    return survey;
}

}  // namespace difffuzz

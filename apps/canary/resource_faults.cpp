// A command takes more than it needs.
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/canary/planting.hpp"

namespace difffuzz::canary {
namespace {

using Planted = std::optional<Answer>;

constexpr std::size_t mib = std::size_t{1} << 20;

#ifdef __SANITIZE_ADDRESS__
// The memory of whoever starts a command counts for it, and a sanitized one has a lot.
constexpr std::size_t much_memory = 1536 * mib;
#else
constexpr std::size_t much_memory = 448 * mib;
#endif

bool take_memory() {
    void* const memory =
        ::mmap(nullptr, much_memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    std::memset(memory, 1, much_memory);
    ::munmap(memory, much_memory);
    return true;
}

// The same few bytes again and again, so that the disk is none the fuller for it.
bool write_much() {
    constexpr std::size_t times = 160;
    const char* const directory = std::getenv("TMPDIR");
    const std::string name = std::string(directory != nullptr ? directory : ".") + "/scratch";
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    const std::string block(mib, 'x');
    bool written = file >= 0;
    for (std::size_t i = 0; written && i < times; ++i) {
        written = ::pwrite(file, block.data(), block.size(), 0) > 0;
    }
    ::close(file);
    ::unlink(name.c_str());
    return written;
}

bool start_many_processes() {
    constexpr int many = 200;
    for (int i = 0; i < many; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::_exit(0);
        }
        if (child < 0 || ::waitpid(child, nullptr, 0) != child) {
            return false;
        }
    }
    return true;
}

Planted check_memory_on_damage(const Call& call) {
    constexpr int corruptions = 2;
    constexpr int leaks = 3;
    if (!call.is("check")) {
        return std::nullopt;
    }
    return spoilt(call, [](Answer& answer) {
        return (answer.code == corruptions || answer.code == leaks) && take_memory();
    });
}

Planted compressed_memory(const Call& call) {
    if (!call.is("convert") || !call.has("-c")) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer&) { return take_memory(); });
}

Planted commit_writes_more(const Call& call) {
    if (!call.is("commit")) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer&) { return write_much(); });
}

Planted map_processes(const Call& call) {
    if (!call.is("map")) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer&) { return start_many_processes(); });
}

}  // namespace

const Faults& resource_faults() {
    using enum LayerId;
    static const Faults table{
        {"check-memory-on-damage", "check", resource, Seen::by_its_layer_alone, Roles::subject,
         "check takes hundreds of MiB for an image that is not sound", check_memory_on_damage},
        {"compressed-memory", "convert_compressed", resource, Seen::by_its_layer_alone,
         Roles::subject, "convert -c takes hundreds of MiB", compressed_memory},
        {"commit-writes-more", "commit", resource, Seen::by_its_layer_alone, Roles::subject,
         "commit writes 160 MiB to a temporary file", commit_writes_more},
        {"map-processes", "map", resource, Seen::by_its_layer_alone, Roles::subject,
         "map starts two hundred processes", map_processes},
    };
    return table;
}

}  // namespace difffuzz::canary

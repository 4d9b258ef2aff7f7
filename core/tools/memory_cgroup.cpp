#include "core/tools/memory_cgroup.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace difffuzz {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), "memory cgroup: " + what);
}

FileDescriptor open_file(const std::string& path, int mode) {
    FileDescriptor file(::open(path.c_str(), mode | O_CLOEXEC));
    if (!file.valid()) {
        fail(path);
    }
    return file;
}

}  // namespace

MemoryCgroup::MemoryCgroup(const std::string& directory) {
    if (directory.empty()) {
        return;
    }
    const bool second = ::access((directory + "/memory.max").c_str(), F_OK) == 0;
    limit_ = open_file(directory + (second ? "/memory.max" : "/memory.limit_in_bytes"), O_WRONLY);
    events_ = open_file(directory + (second ? "/memory.events" : "/memory.oom_control"), O_RDONLY);
}

void MemoryCgroup::set_limit(std::uint64_t bytes) {
    if (!present() || bytes == bytes_) {
        return;
    }
    const auto text = std::to_string(bytes);
    if (::pwrite(limit_.get(), text.data(), text.size(), 0) < 0) {
        fail("cannot set a limit of " + text + " bytes");
    }
    bytes_ = bytes;
}

std::uint64_t MemoryCgroup::kills() const {
    if (!present()) {
        return 0;
    }
    std::array<char, 1024> buffer;
    const auto size = ::pread(events_.get(), buffer.data(), buffer.size() - 1, 0);
    if (size < 0) {
        fail("cannot read the events");
    }
    buffer[static_cast<std::size_t>(size)] = '\0';
    constexpr std::string_view key = "\noom_kill ";
    const std::string_view text(buffer.data());
    const auto at = text.find(key);
    return at == std::string_view::npos ? 0
                                        : std::strtoull(text.data() + at + key.size(), nullptr, 10);
}

}  // namespace difffuzz

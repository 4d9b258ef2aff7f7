#include "core/tools/process_account.hpp"

#include <array>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

#include "core/decimal.hpp"

namespace difffuzz {
namespace {

// Both files are shorter than this.
std::string read_small(const FileDescriptor& file) {
    std::array<char, 1024> text;
    const auto size = file.valid() ? ::read(file.get(), text.data(), text.size()) : -1;
    return size <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

FileDescriptor open_account(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/io";
    return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::optional<std::uint64_t> bytes_written(const FileDescriptor& account) {
    const std::string text = read_small(account);
    constexpr std::string_view key = "\nwchar: ";
    const auto at = text.find(key);
    if (at == std::string::npos) {
        return std::nullopt;
    }
    const auto begin = at + key.size();
    return parse_decimal(std::string_view(text).substr(begin, text.find('\n', begin) - begin));
}

std::optional<std::uint64_t> tasks_since(pid_t pid) {
    std::string text = read_small(FileDescriptor(::open("/proc/loadavg", O_RDONLY | O_CLOEXEC)));
    while (!text.empty() && text.back() == '\n') {
        text.pop_back();
    }
    const auto latest = parse_decimal(std::string_view(text).substr(text.rfind(' ') + 1));
    const auto first = static_cast<std::uint64_t>(pid);
    return latest && *latest >= first ? std::optional(*latest - first + 1) : std::nullopt;
}

}  // namespace difffuzz

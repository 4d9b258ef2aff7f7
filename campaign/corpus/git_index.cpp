#include "campaign/corpus/git_index.hpp"

#include <cstdint>
#include <filesystem>

#include "campaign/evidence/files.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_index_bytes = std::size_t{256} << 20;
constexpr std::size_t header_bytes = 12;
// Up to the flags: times, device, inode, mode, owners, size, and the SHA-1 of the object.
constexpr std::size_t before_flags = 60;
constexpr unsigned extended_flag = 0x4000;

// Big-endian; the bytes are there.
std::uint32_t number_at(std::string_view bytes, std::size_t offset, std::size_t count) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < count; ++i) {
        number = number << 8 | static_cast<unsigned char>(bytes[offset + i]);
    }
    return number;
}

// The file with the index: in ".git", or where a ".git" of a linked work tree points.
std::string index_of(const fs::path& top) {
    const fs::path git = top / ".git";
    if (fs::is_directory(git)) {
        return git / "index";
    }
    constexpr std::string_view mark = "gitdir: ";
    std::string line = read_file(git, std::size_t{64} << 10);
    line = line.substr(0, line.find('\n'));
    return line.starts_with(mark) ? (top / line.substr(mark.size()) / "index").string() : "";
}

}  // namespace

std::optional<std::set<std::string>> parse_git_index(std::string_view bytes) {
    if (bytes.size() < header_bytes || !bytes.starts_with("DIRC")) {
        return std::nullopt;
    }
    const std::uint32_t version = number_at(bytes, 4, 4);
    const std::uint32_t entries = number_at(bytes, 8, 4);
    if (version != 2 && version != 3) {
        return std::nullopt;
    }
    std::set<std::string> paths;
    std::size_t entry = header_bytes;
    for (std::uint32_t i = 0; i < entries; ++i) {
        if (bytes.size() < entry + before_flags + 4) {
            return std::nullopt;
        }
        const bool extended = (number_at(bytes, entry + before_flags, 2) & extended_flag) != 0;
        const std::size_t name = entry + before_flags + (extended ? 4 : 2);
        const std::size_t end = bytes.find('\0', name);
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        paths.emplace(bytes.substr(name, end - name));
        // One to eight NULs, up to a multiple of eight.
        entry += (end - entry + 8) / 8 * 8;
    }
    return paths;
}

GitTracking git_tracking(const std::string& directory) {
    std::error_code error;
    fs::path top = fs::canonical(directory, error);
    while (!error && !fs::exists(top / ".git", error) && top.has_relative_path()) {
        top = top.parent_path();
    }
    GitTracking tracking;
    if (error || !fs::exists(top / ".git", error)) {
        return tracking;
    }
    tracking.top = top;
    try {
        tracking.tracked = parse_git_index(read_file(index_of(top), max_index_bytes));
    } catch (const UsageError&) {
        // It is not this user's to read, or not there yet: nothing can be told.
    }
    return tracking;
}

bool is_tracked(const GitTracking& tracking, const std::string& path) {
    if (!tracking.tracked) {
        return true;
    }
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return tracking.tracked->contains(real.lexically_relative(tracking.top).generic_string());
}

}  // namespace difffuzz

#include "core/tools/landlock.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace difffuzz {
namespace {

// Bits and members newer than the system's header, by value from the kernel's interface
// (include/uapi/linux/landlock.h): REFER came with ABI 2, TRUNCATE with 3, IOCTL_DEV with 5, the
// scopes with 6.
constexpr std::uint64_t access_refer = std::uint64_t{1} << 13;
constexpr std::uint64_t access_truncate = std::uint64_t{1} << 14;
constexpr std::uint64_t access_ioctl_device = std::uint64_t{1} << 15;
constexpr std::uint64_t scope_abstract_socket = std::uint64_t{1} << 0;
constexpr std::uint64_t scope_signal = std::uint64_t{1} << 1;

struct RuleSetAttributes {
    std::uint64_t handled_file_access;
    std::uint64_t handled_network_access;
    std::uint64_t scoped;
};

constexpr std::uint64_t read_access =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t device_access = LANDLOCK_ACCESS_FS_READ_FILE |
                                        LANDLOCK_ACCESS_FS_WRITE_FILE | access_truncate |
                                        access_ioctl_device;
// What may be said of a rule's path when it is no directory.
constexpr std::uint64_t file_access = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                      LANDLOCK_ACCESS_FS_READ_FILE | access_truncate |
                                      access_ioctl_device;

constexpr std::array devices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                "/dev/urandom"};

// Writable sets in use at a time; more than the sides of a worker times what they vary in.
constexpr std::size_t most_entries = 16;

std::uint64_t handled_access(int abi) {
    std::uint64_t handled = (std::uint64_t{1} << 13) - 1;
    if (abi >= 2) {
        handled |= access_refer;
    }
    if (abi >= 3) {
        handled |= access_truncate;
    }
    if (abi >= 5) {
        handled |= access_ioctl_device;
    }
    return handled;
}

std::size_t attributes_size(int abi) {
    if (abi >= 6) {
        return sizeof(RuleSetAttributes);
    }
    return abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

FileDescriptor open_path(const std::string& path) {
    FileDescriptor fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!fd.valid()) {
        fail("landlock: " + path);
    }
    return fd;
}

void add_rule(int rules, const FileDescriptor& parent, std::uint64_t access,
              const std::string& path) {
    struct stat status {};
    if (::fstat(parent.get(), &status) != 0) {
        fail("landlock: " + path);
    }
    landlock_path_beneath_attr attributes{};
    attributes.allowed_access = S_ISDIR(status.st_mode) ? access : access & file_access;
    attributes.parent_fd = parent.get();
    if (::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &attributes, 0) != 0) {
        fail("landlock: " + path);
    }
}

}  // namespace

int landlock_abi() {
    const auto abi =
        ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return abi > 0 ? static_cast<int>(abi) : 0;
}

LandlockRules::LandlockRules(int abi, std::vector<std::string> readable)
    : abi_(abi), readable_(std::move(readable)) {}

int LandlockRules::rule_set(const std::vector<std::string>& writable,
                            const std::vector<std::string>& readable) {
    Key key{writable, readable};
    if (const auto found = entries_.find(key); found != entries_.end()) {
        bool same = true;
        for (std::size_t i = 0; i < writable.size() + readable.size(); ++i) {
            const std::string& path =
                i < writable.size() ? writable[i] : readable[i - writable.size()];
            struct stat now {};
            const auto& then = found->second.directories[i];
            same = same && ::stat(path.c_str(), &now) == 0 && now.st_dev == then.device &&
                   now.st_ino == then.inode;
        }
        if (same) {
            return found->second.rules.get();
        }
        entries_.erase(found);
    }
    if (entries_.size() >= most_entries) {
        entries_.clear();
    }
    Entry entry = make(key);
    return entries_.emplace(std::move(key), std::move(entry)).first->second.rules.get();
}

LandlockRules::Entry LandlockRules::make(const Key& key) const {
    const auto handled = handled_access(abi_);
    RuleSetAttributes attributes{handled, 0, 0};
    if (abi_ >= 6) {
        attributes.scoped = scope_abstract_socket | scope_signal;
    }
    Entry entry;
    entry.rules = FileDescriptor(static_cast<int>(
        ::syscall(SYS_landlock_create_ruleset, &attributes, attributes_size(abi_), 0)));
    if (!entry.rules.valid()) {
        fail("landlock");
    }
    const int rules = entry.rules.get();
    for (const auto& path : readable_) {
        add_rule(rules, open_path(path), read_access, path);
    }
    for (const std::string path : devices) {
        add_rule(rules, open_path(path), device_access & handled, path);
    }
    const auto add_directory = [&](const std::string& path, std::uint64_t access) {
        Directory directory;
        directory.held = open_path(path);
        struct stat status {};
        if (::fstat(directory.held.get(), &status) != 0) {
            fail("landlock: " + path);
        }
        directory.device = status.st_dev;
        directory.inode = status.st_ino;
        add_rule(rules, directory.held, access, path);
        entry.directories.push_back(std::move(directory));
    };
    for (const auto& path : key.first) {
        add_directory(path, handled);
    }
    for (const auto& path : key.second) {
        add_directory(path, read_access);
    }
    return entry;
}

int landlock_restrict(int rule_set) {
    return ::syscall(SYS_landlock_restrict_self, rule_set, 0) == 0 ? 0 : errno;
}

}  // namespace difffuzz

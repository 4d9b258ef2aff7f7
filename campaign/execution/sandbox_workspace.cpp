#include "campaign/execution/sandbox_workspace.hpp"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <utility>

#include "campaign/execution/sandbox_mounts.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

// Beyond these a fresh file system is cheaper, and recursion stays shallow.
constexpr int most_entries = 4096;
constexpr int most_depth = 32;

// What the kernel may keep of it in memory that no size limit counts.
constexpr int most_inodes = 131072;

constexpr mode_t directory_mode = 0755;

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

// Removes what is in the open directory `fd` (taken over) but not it. False when it gives up.
bool empty_directory(int fd, int depth, int& budget) {
    const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(fd));
    if (!directory) {
        ::close(fd);
        return false;
    }
    while (const dirent* entry = ::readdir(directory.get())) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") {
            continue;
        }
        if (--budget < 0) {
            return false;
        }
        if (::unlinkat(fd, entry->d_name, 0) == 0) {
            continue;
        }
        if (errno != EISDIR || depth == most_depth) {
            return false;
        }
        const int inner =
            ::openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner < 0 || !empty_directory(inner, depth + 1, budget) ||
            ::unlinkat(fd, entry->d_name, AT_REMOVEDIR) != 0) {
            return false;
        }
    }
    return true;
}

}  // namespace

Workspace::Workspace(std::string root, std::uint64_t bytes, uid_t uid, gid_t gid)
    : root_(std::move(root)), bytes_(bytes), uid_(uid), gid_(gid) {
    make_directories(root_);
    mount_fresh();
}

void Workspace::reset() {
    if (empty_in_place()) {
        return;
    }
    while (::umount2(root_.c_str(), MNT_DETACH) == 0) {
    }
    mount_fresh();
}

std::uint64_t Workspace::used() const {
    struct statfs status {};
    if (::statfs(root_.c_str(), &status) != 0) {
        throw EnvironmentError("cannot measure " + root_ + ": " + std::strerror(errno));
    }
    return (status.f_blocks - status.f_bfree) * static_cast<std::uint64_t>(status.f_bsize);
}

void Workspace::mount_fresh() {
    std::string options =
        "mode=755,size=" + std::to_string(bytes_) + ",nr_inodes=" + std::to_string(most_inodes);
    if (uid_ != static_cast<uid_t>(-1)) {
        options += ",uid=0,gid=0";
    }
    mount_tmpfs(root_, options);
    for (const char* name : {"w", "t"}) {
        if (!make_directory(name)) {
            throw EnvironmentError("cannot make " + root_ + "/" + name + ": " +
                                   std::strerror(errno));
        }
    }
}

bool Workspace::make_directory(const std::string& name) const {
    const auto path = root_ + "/" + name;
    return (::mkdir(path.c_str(), directory_mode) == 0 || errno == EEXIST) &&
           ::chmod(path.c_str(), directory_mode) == 0 && ::lchown(path.c_str(), uid_, gid_) == 0;
}

bool Workspace::empty_in_place() const {
    int budget = most_entries;
    for (const char* name : {"w", "t"}) {
        const auto path = root_ + "/" + name;
        const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || !empty_directory(fd, 0, budget) || !make_directory(name)) {
            return false;
        }
    }
    // Only the two directories may be there: a tool that was let into the root may have made more.
    struct stat status {};
    return ::stat(root_.c_str(), &status) == 0 && status.st_nlink == 4;
}

}  // namespace difffuzz

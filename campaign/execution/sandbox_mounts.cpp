#include "campaign/execution/sandbox_mounts.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/errors.hpp"

namespace difffuzz {
namespace {

[[noreturn]] void fail(const std::string& what) {
    const int number = errno;
    std::string sentence = "cannot " + what + ": " + std::strerror(number);
    if (number == EPERM) {
        sentence +=
            " (the system forbids mounts in user namespaces: run difffuzz as root, or in a "
            "container with more rights)";
    } else if (number == ENOSYS) {
        sentence += " (difffuzz needs Linux 5.12 or newer)";
    }
    throw EnvironmentError(sentence);
}

}  // namespace

FileDescriptor clone_tree(const std::string& path, bool devices) {
    FileDescriptor tree(
        ::open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
    if (!tree.valid()) {
        fail("read " + path);
    }
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
    if (!devices) {
        attributes.attr_set |= MOUNT_ATTR_NODEV;
    }
    if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                        sizeof attributes) != 0) {
        fail("make a read-only mount of " + path);
    }
    return tree;
}

void attach_tree(const FileDescriptor& tree, const std::string& target) {
    if (::move_mount(tree.get(), "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0) {
        fail("mount " + target + " in the worker's root");
    }
}

void make_directories(const std::string& path) {
    for (std::size_t at = 1; at != std::string::npos;) {
        at = path.find('/', at);
        const auto part = path.substr(0, at);
        if (::mkdir(part.c_str(), 0755) == 0) {
            if (::chmod(part.c_str(), 0755) != 0) {
                fail("change the mode of " + part);
            }
        } else if (errno != EEXIST) {
            fail("make the directory " + part);
        }
        at = at == std::string::npos ? at : at + 1;
    }
}

void make_file(const std::string& path) {
    make_directories(path.substr(0, path.rfind('/')));
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0444));
    if (!file.valid()) {
        fail("make the file " + path);
    }
}

void mount_tmpfs(const std::string& target, const std::string& options) {
    if (::mount("tmpfs", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
        fail("mount a tmpfs at " + target);
    }
}

void mount_proc(const std::string& target) {
    if (::mount("proc", target.c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
        fail("mount /proc for the worker");
    }
}

void make_mounts_private() {
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
        fail("make the worker's mounts private");
    }
}

void enter_root(const std::string& root) {
    // With both directories the same, the old root is stacked on the new one, and the unmount takes
    // the upper one away (pivot_root(2), notes).
    if (::chdir(root.c_str()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 ||
        ::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) {
        fail("change the worker's root");
    }
}

void make_root_read_only() {
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY;
    if (::mount_setattr(AT_FDCWD, "/", 0, &attributes, sizeof attributes) != 0) {
        fail("make the worker's root read-only");
    }
}

}  // namespace difffuzz

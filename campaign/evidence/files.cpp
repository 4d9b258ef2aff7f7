#include "campaign/evidence/files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"

namespace difffuzz {
namespace {

[[noreturn]] void cannot(const std::string& what, const std::string& name) {
    throw EnvironmentError("cannot " + what + " '" + name +
                           "' of the evidence: " + std::strerror(errno));
}

// The same, after the file that was written beside its place is gone again.
[[noreturn]] void give_up(int directory, const std::string& temporary, const std::string& what,
                          const std::string& name) {
    const int reason = errno;
    ::unlinkat(directory, temporary.c_str(), 0);
    errno = reason;
    cannot(what, name);
}

void sync_directory(const std::string& path) {
    const FileDescriptor directory(open_directory(path));
    if (::fsync(directory.get()) != 0) {
        cannot("sync", path);
    }
}

}  // namespace

void write_file(int directory, const std::string& name, std::string_view content) {
    const std::string temporary = name + ".new";
    FileDescriptor file(::openat(directory, temporary.c_str(),
                                 O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file.valid()) {
        cannot("create", name);
    }
    std::size_t done = 0;
    while (done < content.size()) {
        const ssize_t written = ::write(file.get(), content.data() + done, content.size() - done);
        if (written >= 0) {
            done += static_cast<std::size_t>(written);
        } else if (errno != EINTR) {
            give_up(directory, temporary, "write", name);
        }
    }
    if (::fsync(file.get()) != 0) {
        give_up(directory, temporary, "sync", name);
    }
    file.reset();
    if (::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0) {
        give_up(directory, temporary, "rename", name);
    }
    if (::fsync(directory) != 0) {
        cannot("sync the directory of", name);
    }
}

void write_file(const std::string& directory, const std::string& name, std::string_view content) {
    const FileDescriptor opened(open_directory(directory));
    write_file(opened.get(), name, content);
}

namespace {

// What is wrong with a file that open() refused with O_NOFOLLOW.
std::string open_failure(int error_number) {
    return error_number == ELOOP ? "it is a symbolic link" : std::strerror(error_number);
}

// Non-blocking, so that a named pipe in the place of a file cannot hold us up.
std::string read_whole(const std::string& path, std::size_t max_bytes, int flags) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
    if (!file.valid()) {
        throw UsageError("cannot read '" + path + "': " + open_failure(errno));
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        throw UsageError("cannot read '" + path + "': it is not a regular file");
    }
    if (static_cast<std::uint64_t>(status.st_size) > max_bytes) {
        throw UsageError("cannot read '" + path + "': it is larger than the " +
                         std::to_string(max_bytes) + " bytes allowed");
    }
    std::string content;
    char buffer[1 << 16];
    while (content.size() <= max_bytes) {
        const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
        if (got == 0) {
            return content;
        }
        if (got > 0) {
            content.append(buffer, static_cast<std::size_t>(got));
        } else if (errno != EINTR) {
            throw UsageError("cannot read '" + path + "': " + std::strerror(errno));
        }
    }
    throw UsageError("cannot read '" + path + "': it grew while it was read");
}

}  // namespace

std::string read_file(const std::string& path, std::size_t max_bytes) {
    return read_whole(path, max_bytes, 0);
}

std::string read_evidence_file(const std::string& path, std::size_t max_bytes) {
    return read_whole(path, max_bytes, O_NOFOLLOW);
}

int open_evidence_file(const std::string& path, int flags) {
    FileDescriptor file(::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));
    if (!file.valid()) {
        if (errno == ENOENT && (flags & O_CREAT) == 0) {
            return -1;
        }
        throw EnvironmentError("cannot open '" + path + "': " + open_failure(errno));
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        throw EnvironmentError("cannot open '" + path + "': it is not a regular file");
    }
    return file.release();
}

void make_directory(int directory, const std::string& name) {
    if (::mkdirat(directory, name.c_str(), 0755) == 0) {
        return;
    }
    struct stat status {};
    if (errno != EEXIST || ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        cannot("create the directory", name);
    }
    if (!S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        cannot("use the directory", name);
    }
}

void make_evidence_directories(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
        throw EnvironmentError("cannot create the directory '" + path + "': " + error.message());
    }
}

int open_directory(int directory, const std::string& name) {
    const int opened = ::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) {
        cannot("open the directory", name);
    }
    return opened;
}

int open_directory(const std::string& path) { return open_directory(AT_FDCWD, path); }

void copy_tree(const std::string& from, const std::string& to) {
    namespace fs = std::filesystem;
    make_evidence_directories(to);
    try {
        for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
            const fs::path target = to / entry.path().filename();
            const fs::file_type type = entry.symlink_status().type();
            if (type == fs::file_type::directory) {
                copy_tree(entry.path(), target);
            } else if (type == fs::file_type::regular) {
                fs::copy_file(entry.path(), target);
            } else {
                throw EnvironmentError("cannot copy '" + entry.path().string() +
                                       "': it is neither a directory nor a regular file");
            }
        }
    } catch (const fs::filesystem_error& error) {
        throw EnvironmentError("cannot copy '" + from + "': " + error.code().message());
    }
}

void remove_tree(const std::string& path) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error) {
        throw EnvironmentError("cannot remove '" + path + "': " + error.message());
    }
}

void move_directory(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) {
        cannot("rename", from);
    }
    sync_directory(std::filesystem::path(from).parent_path());
    sync_directory(std::filesystem::path(to).parent_path());
}

void replace_directory(const std::string& from, const std::string& to) {
    if (!std::filesystem::exists(std::filesystem::symlink_status(to))) {
        move_directory(from, to);
        return;
    }
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
        cannot("exchange", from);
    }
    sync_directory(std::filesystem::path(to).parent_path());
    remove_tree(from);
}

}  // namespace difffuzz

#include "apps/difffuzz/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;        // as many as the kernel follows
constexpr int most_temporaries = 64;  // left by processes that were killed

std::string words(const OutputFile& file) { return file.flag + " '" + file.named + "'"; }

[[noreturn]] void unusable(const OutputFile& file, const std::string& reason) {
    throw UsageError("cannot write " + words(file) + ": " + reason);
}

[[noreturn]] void failed(const OutputFile& file, int reason) {
    throw EnvironmentError("cannot write " + words(file) + ": " + std::strerror(reason));
}

// The name behind all links, whether or not there is a file of that name.
fs::path followed(const OutputFile& file) {
    std::error_code error;
    fs::path path = fs::absolute(file.named);
    for (int links = 0; links <= most_links; ++links) {
        if (!path.has_filename() || path.filename() == "." || path.filename() == "..") {
            unusable(file, "it names a directory; name a file");
        }
        const fs::path parent = fs::canonical(path.parent_path(), error);
        if (error) {
            unusable(file, "there is no directory '" + path.parent_path().string() + "'");
        }
        path = parent / path.filename();
        const fs::path target = fs::read_symlink(path, error);
        if (error) {
            return path;
        }
        path = target.is_absolute() ? target : parent / target;
    }
    unusable(file, "too many symbolic links");
}

// Standard output or error where it is the very same file: written by a second way, each would
// overwrite what the other wrote. Not so with terminals and other character devices.
int same_descriptor(const struct stat& status) {
    for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat standard {};
        if (::fstat(descriptor, &standard) == 0 && standard.st_dev == status.st_dev &&
            standard.st_ino == status.st_ino) {
            return descriptor;
        }
    }
    return -1;
}

// The errno of the failure, 0 for none.
int write_all(int descriptor, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(descriptor, content.data(), content.size());
        if (written >= 0) {
            content.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

void replace(const OutputFile& file, std::string_view content) {
    const fs::path directory = fs::path(file.path).parent_path();
    FileDescriptor opened;
    std::string temporary;
    for (int i = 0; !opened.valid() && i < most_temporaries; ++i) {
        temporary = directory /
                    (".difffuzz-" + std::to_string(::getpid()) + "-" + std::to_string(i) + ".new");
        opened = FileDescriptor(
            ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (!opened.valid() && errno != EEXIST) {
            failed(file, errno);
        }
    }
    if (!opened.valid()) {
        failed(file, EEXIST);
    }
    int reason = write_all(opened.get(), content);
    struct stat old {};
    if (reason == 0 && ::stat(file.path.c_str(), &old) == 0 &&
        ::fchmod(opened.get(), old.st_mode & 07777) != 0) {
        reason = errno;
    }
    if (reason == 0 && ::fsync(opened.get()) != 0) {
        reason = errno;
    }
    if (reason == 0 && ::rename(temporary.c_str(), file.path.c_str()) != 0) {
        reason = errno;
    }
    if (reason != 0) {
        ::unlink(temporary.c_str());
        failed(file, reason);
    }
}

}  // namespace

OutputFile output_file(const std::string& flag, const std::string& named) {
    OutputFile file{flag, named, {}, -1, false};
    if (named == "-") {
        file.descriptor = STDOUT_FILENO;
        return file;
    }
    struct stat status {};
    const bool there = ::stat(named.c_str(), &status) == 0;
    if (!there && errno != ENOENT) {
        unusable(file, std::strerror(errno));
    }
    if (there && S_ISDIR(status.st_mode)) {
        unusable(file, "it is a directory; name a file");
    }
    if (there && !S_ISCHR(status.st_mode)) {
        file.descriptor = same_descriptor(status);
    }
    if (file.descriptor >= 0) {
        return file;
    }
    const bool regular = there && S_ISREG(status.st_mode);
    if (there && !regular) {
        // What a link below /proc says is no path, so this one is opened as it was named.
        file.path = fs::absolute(named);
        file.in_place = true;
    } else {
        const fs::path path = followed(file);
        const bool may_rename = ::access(path.parent_path().c_str(), W_OK | X_OK) == 0;
        if (!there && !may_rename) {
            unusable(file, "the directory '" + path.parent_path().string() + "' is not writable");
        }
        file.path = path;
        // A descriptor that the caller holds open stays that of the file.
        file.in_place = there && (!may_rename || file.path.starts_with("/proc/"));
    }
    if (there && ::access(file.path.c_str(), W_OK) != 0) {
        unusable(file, std::strerror(errno));
    }
    return file;
}

OutputFile new_output_file(const std::string& flag, const std::string& named) {
    OutputFile file{flag, named, {}, -1, false};
    if (named == "-") {
        unusable(file, "it takes the name of a file, not standard output");
    }
    struct stat status {};
    if (::lstat(named.c_str(), &status) == 0) {
        unusable(file, S_ISDIR(status.st_mode)
                           ? "it is a directory; name a file"
                           : "it exists and is not overwritten; remove it or name another file");
    }
    return output_file(flag, named);
}

void require_different(const std::vector<OutputFile>& files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (files[i].path == files[j].path && files[i].descriptor == files[j].descriptor) {
                throw UsageError(words(files[j]) + " and " + words(files[i]) +
                                 " are the same file; give each its own");
            }
        }
    }
}

void make_output_directory(const std::string& flag, const std::string& named) {
    if (named.empty()) {
        return;
    }
    std::error_code error;
    fs::create_directories(named, error);
    if (error) {
        throw UsageError("cannot use " + flag + " '" + named + "': " + error.message());
    }
    if (::access(named.c_str(), W_OK | X_OK) != 0) {
        throw UsageError("cannot use " + flag + " '" + named + "': it is not writable");
    }
}

void write_output(const OutputFile& file, std::string_view content) {
    if (file.descriptor < 0 && !file.in_place) {
        replace(file, content);
        return;
    }
    FileDescriptor opened;
    if (file.descriptor >= 0) {
        std::cout.flush();
    } else {
        opened = FileDescriptor(::open(file.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
        if (!opened.valid()) {
            failed(file, errno);
        }
    }
    const int reason = write_all(opened.valid() ? opened.get() : file.descriptor, content);
    if (reason != 0) {
        failed(file, reason);
    }
}

}  // namespace difffuzz

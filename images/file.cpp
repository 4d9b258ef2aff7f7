#include "images/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "images/image_error.hpp"

namespace difffuzz {
namespace {

[[noreturn]] void fail(const std::string& name, std::string_view action) {
    throw ImageError(fmt::format("{}: cannot {}: {}", name, action, std::strerror(errno)));
}

off_t to_offset(const std::string& name, std::uint64_t offset) {
    if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
        throw ImageError(fmt::format("{}: offset {} is larger than a file can be", name, offset));
    }
    return static_cast<off_t>(offset);
}

}  // namespace

File File::open_with(const std::string& directory, const std::string& name, int flags) {
    const std::string path = directory + "/" + name;
    // O_NONBLOCK: opening a FIFO must not wait for a writer before it is refused below.
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0) {
        fail(name, (flags & O_CREAT) != 0 ? "create" : "open");
    }
    File file(descriptor, name);
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) {
        fail(name, "examine");
    }
    if (!S_ISREG(status.st_mode)) {
        throw ImageError(fmt::format("{}: is not a regular file", name));
    }
    return file;
}

File File::open(const std::string& directory, const std::string& name) {
    return open_with(directory, name, O_RDONLY);
}

File File::open_for_update(const std::string& directory, const std::string& name) {
    return open_with(directory, name, O_RDWR);
}

File File::create(const std::string& directory, const std::string& name) {
    return open_with(directory, name, O_RDWR | O_CREAT | O_EXCL);
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)) {}

File& File::operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(name_, other.name_);
    return *this;
}

File::~File() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

std::uint64_t File::size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) {
        fail(name_, "examine");
    }
    return static_cast<std::uint64_t>(status.st_size);
}

std::size_t File::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::pread(descriptor_, bytes.data() + done, bytes.size() - done,
                                    to_offset(name_, offset + done));
        if (got == 0) {
            break;
        }
        if (got > 0) {
            done += static_cast<std::size_t>(got);
        } else if (errno != EINTR) {
            fail(name_, "read");
        }
    }
    return done;
}

void File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t put = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                                     to_offset(name_, offset + done));
        if (put >= 0) {
            done += static_cast<std::size_t>(put);
        } else if (errno != EINTR) {
            fail(name_, "write");
        }
    }
}

void File::resize(std::uint64_t size) const {
    while (::ftruncate(descriptor_, to_offset(name_, size)) != 0) {
        if (errno != EINTR) {
            fail(name_, "set the size");
        }
    }
}

std::uint64_t File::seek(std::uint64_t offset, int whence) const {
    const off_t found = ::lseek(descriptor_, to_offset(name_, offset), whence);
    if (found >= 0) {
        return static_cast<std::uint64_t>(found);
    }
    if (errno == ENXIO) {
        return size();
    }
    fail(name_, "look for holes");
}

std::uint64_t File::next_data(std::uint64_t offset) const { return seek(offset, SEEK_DATA); }
std::uint64_t File::next_hole(std::uint64_t offset) const { return seek(offset, SEEK_HOLE); }

TemporaryFile::~TemporaryFile() { ::unlink(path_.c_str()); }

}  // namespace difffuzz

// A regular file, read and written at offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace difffuzz {

// Owns one descriptor. All members throw ImageError with the file's name and the system's reason.
// Interrupted and short transfers are continued.
class File {
public:
    // Opens `directory`/`name` for reading. Symbolic links and everything but a regular file are
    // refused: the names come from strangers' images.
    static File open(const std::string& directory, const std::string& name);
    // As open(), for reading and writing.
    static File open_for_update(const std::string& directory, const std::string& name);
    // Makes the file; it must not exist yet.
    static File create(const std::string& directory, const std::string& name);

    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File();

    const std::string& name() const { return name_; }
    // Bytes at the time of the call.
    std::uint64_t size() const;
    // Reads from `offset` until `bytes` is full or the file ends; returns the number of bytes read.
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
    // Sets the size; what is added is a hole.
    void resize(std::uint64_t size) const;
    // Offset of the first byte at or after `offset` that lies in data (in a hole); the file's size
    // if there is none. `offset` is at most the file's size.
    std::uint64_t next_data(std::uint64_t offset) const;
    std::uint64_t next_hole(std::uint64_t offset) const;

private:
    File(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
    static File open_with(const std::string& directory, const std::string& name, int flags);
    std::uint64_t seek(std::uint64_t offset, int whence) const;

    int descriptor_ = -1;
    std::string name_;
};

// Removes `directory`/`name` when it goes out of scope, if it is there.
class TemporaryFile {
public:
    TemporaryFile(const std::string& directory, std::string name)
        : path_(directory + "/" + name), name_(std::move(name)) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile();

    const std::string& name() const { return name_; }

private:
    std::string path_;
    std::string name_;
};

}  // namespace difffuzz

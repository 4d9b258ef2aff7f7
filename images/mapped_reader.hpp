// The part of a reader that image formats with a map from guest to file offsets share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "images/content_source.hpp"
#include "images/file.hpp"
#include "images/metadata_cache.hpp"

namespace difffuzz {

// Where a run of guest bytes comes from.
struct MappedRun {
    enum class Kind : std::uint8_t { unallocated, zero, data };
    Kind kind = Kind::unallocated;
    std::uint64_t length = 0;  // bytes, at least 1; may reach past the image's end
    std::uint64_t host = 0;    // data: offset in the file
};

// Unallocated bytes are those of `backing`, and zeros where there is none or it has ended. A run of
// data that reaches past the end of the file is an error: tools do not agree on what to make of it.
class MappedReader : public ContentSource {
public:
    MappedReader(const MappedReader&) = delete;
    MappedReader& operator=(const MappedReader&) = delete;

    std::uint64_t size() const override { return size_; }
    ContentExtent extent(std::uint64_t offset) const override;
    void read(std::uint64_t offset, std::span<std::byte> bytes) const override;

protected:
    MappedReader(File file, std::uint64_t size, std::unique_ptr<ContentSource> backing = nullptr)
        : file_(std::move(file)),
          tables_(file_),
          file_size_(file_.size()),
          size_(size),
          backing_(std::move(backing)) {}

    // The run that begins at `offset` (< size()).
    virtual MappedRun map(std::uint64_t offset) const = 0;

    // Throws ImageError: the file's name, then `what`.
    [[noreturn]] void fail(const std::string& what) const;
    // Table entries; `offset` is a multiple of their size.
    std::uint32_t entry_be32(std::uint64_t offset) const;
    std::uint32_t entry_le32(std::uint64_t offset) const;
    // As MetadataCache::zero_entries().
    std::uint64_t zero_entries(std::uint64_t offset, std::uint64_t stride,
                               std::uint64_t limit) const {
        return tables_.zero_entries(offset, stride, limit);
    }
    std::uint64_t entry_be64(std::uint64_t offset) const { return tables_.entry(offset); }
    std::uint64_t file_size() const { return file_size_; }

private:
    MappedRun checked(std::uint64_t offset) const;
    ContentExtent simple_extent(std::uint64_t offset) const;
    void read_backing(std::uint64_t offset, std::span<std::byte> bytes) const;

    File file_;
    mutable MetadataCache tables_;
    std::uint64_t file_size_;
    std::uint64_t size_;
    std::unique_ptr<ContentSource> backing_;
};

}  // namespace difffuzz

// Big-endian table entries of an image file, read through a small cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "images/file.hpp"

namespace difffuzz {

// At most 1 MiB of the file in memory, whatever the tables' sizes. `file` outlives it.
class MetadataCache {
public:
    explicit MetadataCache(const File& file) : file_(file), slots_(slot_count) {}

    // The 64-bit integer at `offset`, a multiple of 8. Throws ImageError past the end of the file.
    std::uint64_t entry(std::uint64_t offset);
    // How many entries of `stride` bytes (8 or 16), from the one at `offset` on, are zero in all
    // their bytes: at most `limit`, perhaps fewer than there are.
    std::uint64_t zero_entries(std::uint64_t offset, std::uint64_t stride, std::uint64_t limit);

private:
    static constexpr std::size_t page_bytes = 4096;
    static constexpr std::size_t slot_count = 256;
    struct Page {
        std::uint64_t number = 0;
        std::size_t length = 0;  // less than a page at the end of the file
        std::array<std::byte, page_bytes> bytes;
    };

    const Page& page_of(std::uint64_t offset);

    const File& file_;
    std::vector<std::unique_ptr<Page>> slots_;
};

}  // namespace difffuzz

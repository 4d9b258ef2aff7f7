// Writes a file in one ascending pass, few system calls, holes where nothing was put.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "images/file.hpp"

namespace difffuzz {

// Collects pieces into larger writes. Offsets must ascend and pieces must not overlap. Gaps of up
// to one page between pieces are filled with zeros. Nothing is certain to be in the file before
// finish().
class SparseWriter {
public:
    static constexpr std::size_t max_piece = std::size_t{1} << 20;

    explicit SparseWriter(const File& file) : file_(file) {}

    // Room for `length` (at most max_piece) bytes at `offset`, zeroed, to be filled by the caller
    // before the next call.
    std::span<std::byte> reserve(std::uint64_t offset, std::size_t length);
    // Any length.
    void put(std::uint64_t offset, std::span<const std::byte> bytes);
    void finish();

private:
    const File& file_;
    std::uint64_t start_ = 0;  // file offset of buffer_[0]
    std::vector<std::byte> buffer_;
};

}  // namespace difffuzz

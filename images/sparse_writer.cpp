#include "images/sparse_writer.hpp"

#include <algorithm>
#include <cassert>

#include "images/transfer_split.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t max_gap = 4096;

}  // namespace

std::span<std::byte> SparseWriter::reserve(std::uint64_t offset, std::size_t length) {
    assert(length <= max_piece);
    const std::uint64_t end = start_ + buffer_.size();
    assert(offset >= end);
    const std::uint64_t gap = offset - end;
    if (buffer_.empty() || gap > max_gap || buffer_.size() + gap + length > max_piece) {
        finish();
        start_ = offset;
    }
    const std::size_t position = static_cast<std::size_t>(offset - start_);
    buffer_.resize(position + length);
    return std::span(buffer_).subspan(position, length);
}

void SparseWriter::put(std::uint64_t offset, std::span<const std::byte> bytes) {
    for (const auto [from, length] : TransferSplit(0, bytes.size(), max_piece)) {
        std::ranges::copy(bytes.subspan(from, length), reserve(offset + from, length).begin());
    }
}

void SparseWriter::finish() {
    file_.write_at(start_, buffer_);
    start_ += buffer_.size();
    buffer_.clear();
}

}  // namespace difffuzz

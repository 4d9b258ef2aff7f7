// A transfer cut into pieces of bounded size, as pure arithmetic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

namespace difffuzz {

struct TransferPiece {
    std::uint64_t offset = 0;  // bytes
    std::uint64_t length = 0;  // bytes, at least 1
    bool operator==(const TransferPiece&) const = default;
};

// The pieces of bytes [offset, offset + length), ascending and without a gap, each of `max` bytes
// but the last, which may be shorter. None where length or max is 0. Total: offsets that would go
// past 2^64 - 1 stay there.
class TransferSplit {
public:
    TransferSplit(std::uint64_t offset, std::uint64_t length, std::uint64_t max)
        : offset_(offset), length_(max == 0 ? 0 : length), max_(max) {}

    class Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using iterator_concept = std::input_iterator_tag;
        using value_type = TransferPiece;
        using difference_type = std::ptrdiff_t;

        TransferPiece operator*() const { return {offset_, std::min(left_, max_)}; }
        Iterator& operator++() {
            const std::uint64_t done = std::min(left_, max_);
            offset_ += std::min(done, std::numeric_limits<std::uint64_t>::max() - offset_);
            left_ -= done;
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const { return left_ == 0; }

    private:
        friend class TransferSplit;
        explicit Iterator(const TransferSplit& whole)
            : offset_(whole.offset_), left_(whole.length_), max_(whole.max_) {}

        std::uint64_t offset_;
        std::uint64_t left_;  // bytes still to come
        std::uint64_t max_;
    };

    Iterator begin() const { return Iterator(*this); }
    std::default_sentinel_t end() const { return {}; }

private:
    std::uint64_t offset_;
    std::uint64_t length_;
    std::uint64_t max_;
};

}  // namespace difffuzz

// Keeps a bounded part of a stream of unknown length: its beginning and its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/tools/command.hpp"

namespace difffuzz {

// Feeds on the bytes of one stream in order. Holds at most `limit` bytes, of which the first half
// (rounded up) is the prefix and the rest is a ring with the latest bytes; while it grows, it takes
// up to half as much more.
class Capture {
public:
    explicit Capture(std::uint64_t limit);

    void append(std::string_view bytes);

    // All bytes seen, kept or not.
    std::uint64_t observed_bytes() const { return observed_; }

    // The stream as kept. What was seen of a stream no longer than `limit` is whole, in `head`.
    Stream finish() &&;

private:
    std::size_t head_limit_;
    std::size_t tail_limit_;
    std::string head_;
    std::string ring_;
    std::size_t ring_start_ = 0;  // the oldest byte, once the ring is full
    std::uint64_t observed_ = 0;
};

}  // namespace difffuzz

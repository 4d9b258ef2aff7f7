#include "core/tools/capture.hpp"

#include <algorithm>
#include <utility>

namespace difffuzz {
namespace {

// Appends, and lets the room grow by doubling, but never beyond `most`: a string alone would take
// up to twice what it is to hold.
void append_within(std::string& kept, std::string_view bytes, std::size_t most) {
    const std::size_t needed = kept.size() + bytes.size();
    if (needed > kept.capacity()) {
        std::string larger;
        larger.reserve(std::min(std::max(needed, 2 * kept.capacity()), most));
        larger.append(kept);
        kept = std::move(larger);
    }
    kept.append(bytes);
}

}  // namespace

Capture::Capture(std::uint64_t limit)
    : head_limit_(static_cast<std::size_t>(limit - limit / 2)),
      tail_limit_(static_cast<std::size_t>(limit / 2)) {}

void Capture::append(std::string_view bytes) {
    observed_ += bytes.size();
    const auto to_head = std::min(bytes.size(), head_limit_ - head_.size());
    append_within(head_, bytes.substr(0, to_head), head_limit_);
    bytes.remove_prefix(to_head);
    if (bytes.size() > tail_limit_) {
        bytes.remove_prefix(bytes.size() - tail_limit_);
    }
    const auto to_fresh = std::min(bytes.size(), tail_limit_ - ring_.size());
    append_within(ring_, bytes.substr(0, to_fresh), tail_limit_);
    bytes.remove_prefix(to_fresh);
    while (!bytes.empty()) {
        const auto part = std::min(bytes.size(), ring_.size() - ring_start_);
        std::copy_n(bytes.begin(), part, ring_.begin() + static_cast<std::ptrdiff_t>(ring_start_));
        ring_start_ = (ring_start_ + part) % ring_.size();
        bytes.remove_prefix(part);
    }
}

Stream Capture::finish() && {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(ring_start_),
                ring_.end());
    Stream stream{std::move(head_), std::move(ring_), observed_};
    if (!stream.cut()) {
        stream.head += std::exchange(stream.tail, {});
    }
    return stream;
}

}  // namespace difffuzz

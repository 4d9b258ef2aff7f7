// Values on disjoint ranges of a line.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <map>

namespace difffuzz {

// Half-open ranges [begin, end), disjoint; what is not covered has no value. Later assignments
// replace earlier ones. T is cheap to copy.
template <typename T>
class IntervalMap {
public:
    struct Range {
        std::uint64_t end = 0;
        T value{};
    };
    using Ranges = std::map<std::uint64_t, Range>;

    const Ranges& ranges() const { return ranges_; }

    // The first range that ends after `position`: it contains it, or lies after it.
    typename Ranges::const_iterator at_or_after(std::uint64_t position) const {
        auto next = ranges_.upper_bound(position);
        if (next != ranges_.begin() && std::prev(next)->second.end > position) {
            return std::prev(next);
        }
        return next;
    }

    void assign(std::uint64_t begin, std::uint64_t end, const T& value) {
        if (begin >= end) {
            return;
        }
        split(begin);
        split(end);
        ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
        ranges_.emplace(begin, Range{end, value});
    }

    // Calls f(begin, end, value or null) for the pieces of [begin, end) in order, uncovered ones
    // too. `f` must not change the map.
    template <typename F>
    void visit(std::uint64_t begin, std::uint64_t end, F&& f) const {
        for (auto it = at_or_after(begin); begin < end && it != ranges_.end(); ++it) {
            const std::uint64_t next = std::min(it->first, end);
            if (begin < next) {
                f(begin, next, static_cast<const T*>(nullptr));
                begin = next;
            }
            if (begin < end) {
                const std::uint64_t stop = std::min(it->second.end, end);
                f(begin, stop, &it->second.value);
                begin = stop;
            }
        }
        if (begin < end) {
            f(begin, end, static_cast<const T*>(nullptr));
        }
    }

private:
    // Makes `position` a border if it lies inside a range.
    void split(std::uint64_t position) {
        auto next = ranges_.lower_bound(position);
        if (next == ranges_.begin()) {
            return;
        }
        const auto before = std::prev(next);
        if (before->second.end > position) {
            ranges_.emplace_hint(next, position, before->second);
            before->second.end = position;
        }
    }

    Ranges ranges_;
};

}  // namespace difffuzz

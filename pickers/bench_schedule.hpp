// The request schedule of `bench` as pure arithmetic: which offsets it touches, when it flushes,
// and what is wrong with a plan. Total: any values whatever give an answer, and nothing overflows.
//
// Model of qemu-img's bench_cb() as measured (7.2.22 flush census by strace, both wrap rules on
// 7.2.22, 10.0 and 11.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace difffuzz {

// What follows the last request that fits.
enum class WrapRule {
    modulo_size,              // up to 10.x: may begin so late that the request crosses the end
    modulo_size_less_buffer,  // newer: never crosses the end
};

// One run of bench, as asked for; nothing is clamped. Sizes and offsets in bytes.
struct BenchPlan {
    std::uint32_t count = 75'000;
    std::uint32_t depth = 64;
    std::uint64_t bufsize = 4096;
    std::uint64_t step = 0;  // 0: the buffer's size
    std::uint64_t offset = 0;
    std::uint32_t flush_interval = 0;  // 0: no flush
    bool write = false;
    bool no_drain = false;
    std::uint8_t pattern = 0;
    std::uint64_t image_size = 0;  // actual virtual size
    bool operator==(const BenchPlan&) const = default;
};

// Bounds of qemu-img's option parser (from 10.0 on; older ones let zeros through).
inline constexpr std::uint64_t bench_argument_max = 2'147'483'647;
inline constexpr std::uint64_t bench_offset_max = 9'223'372'036'854'775'807;

// What makes a plan one that the reference does not carry out.
enum class BenchFault {
    count_out_of_range,      // count not in 1..bench_argument_max
    depth_out_of_range,      // depth not in 1..bench_argument_max
    buffer_out_of_range,     // bufsize not in 1..bench_argument_max
    step_out_of_range,       // step above bench_argument_max
    offset_out_of_range,     // offset above bench_offset_max
    interval_out_of_range,   // flush_interval above bench_argument_max
    flush_without_write,     // flush_interval above 0 and not write
    flush_below_depth,       // flush_interval above 0 and below depth
    first_request_past_end,  // offset + bufsize above image_size
};
std::string_view to_string(BenchFault fault);

// Whether the fault's condition holds, independently of the others.
bool has_fault(const BenchPlan& plan, BenchFault fault);
// The first fault in the order of BenchFault, which is that in which qemu-img finds them.
std::optional<BenchFault> first_fault(const BenchPlan& plan);

// step, or the buffer's size where step is 0.
std::uint64_t effective_step(const BenchPlan& plan);

// The offset after `current`: (current + effective step) wrapped, without overflow. By
// modulo_size: below image_size, 0 for an image of size 0. By modulo_size_less_buffer: below
// image_size - bufsize where the image is larger than the buffer, else 0.
std::uint64_t next_offset(const BenchPlan& plan, WrapRule rule, std::uint64_t current);

// Whether no wrap rule can fire: offset + (count - 1) * effective_step + bufsize < image_size. A
// plan without requests is linear.
bool stays_linear(const BenchPlan& plan);

// Flushes of a run that waits for its queue to drain: 0 without interval or requests, else
// floor((count - min(depth, count)) / interval) + 1, where a depth of 0 counts as 1.
std::uint64_t flush_count(const BenchPlan& plan);
// Whether such a run flushes when `completed` requests are done: when the number of those left is a
// multiple of the interval, as soon as the queue was full once. False for 0 and above count.
bool flushes_after(const BenchPlan& plan, std::uint64_t completed);

// The offsets of all requests in order, computed one at a time: exactly `count`, the first being
// `offset` as it is, never wrapped.
class OffsetSchedule {
public:
    OffsetSchedule(const BenchPlan& plan, WrapRule rule) : plan_(plan), rule_(rule) {}

    class Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using iterator_concept = std::input_iterator_tag;
        using value_type = std::uint64_t;
        using difference_type = std::ptrdiff_t;

        std::uint64_t operator*() const { return offset_; }
        Iterator& operator++();
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const { return left_ == 0; }

    private:
        friend class OffsetSchedule;
        explicit Iterator(const OffsetSchedule& schedule)
            : schedule_(&schedule), offset_(schedule.plan_.offset), left_(schedule.plan_.count) {}

        const OffsetSchedule* schedule_;
        std::uint64_t offset_;
        std::uint32_t left_;
    };

    // Valid as long as the schedule lives.
    Iterator begin() const { return Iterator(*this); }
    std::default_sentinel_t end() const { return {}; }
    std::uint32_t size() const { return plan_.count; }

private:
    BenchPlan plan_;
    WrapRule rule_;
};

}  // namespace difffuzz

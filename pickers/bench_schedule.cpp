#include "pickers/bench_schedule.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace difffuzz {
namespace {

constexpr std::array<std::pair<BenchFault, std::string_view>, 9> faults{{
    {BenchFault::count_out_of_range, "count-out-of-range"},
    {BenchFault::depth_out_of_range, "depth-out-of-range"},
    {BenchFault::buffer_out_of_range, "buffer-out-of-range"},
    {BenchFault::step_out_of_range, "step-out-of-range"},
    {BenchFault::offset_out_of_range, "offset-out-of-range"},
    {BenchFault::interval_out_of_range, "interval-out-of-range"},
    {BenchFault::flush_without_write, "flush-without-write"},
    {BenchFault::flush_below_depth, "flush-below-depth"},
    {BenchFault::first_request_past_end, "first-request-past-end"},
}};

bool in_argument_range(std::uint64_t value) { return value >= 1 && value <= bench_argument_max; }

// (a + b) mod m without overflow; 0 for m = 0.
std::uint64_t add_modulo(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
    if (m == 0) {
        return 0;
    }
    a %= m;
    b %= m;
    return a >= m - b ? a - (m - b) : a + b;
}

// Requests in flight once the queue was filled.
std::uint64_t full_queue(const BenchPlan& plan) {
    return std::min(std::max(plan.depth, 1U), plan.count);
}

}  // namespace

std::string_view to_string(BenchFault fault) {
    return std::find_if(faults.begin(), faults.end(),
                        [&](const auto& named) { return named.first == fault; })
        ->second;
}

bool has_fault(const BenchPlan& plan, BenchFault fault) {
    switch (fault) {
        case BenchFault::count_out_of_range:
            return !in_argument_range(plan.count);
        case BenchFault::depth_out_of_range:
            return !in_argument_range(plan.depth);
        case BenchFault::buffer_out_of_range:
            return !in_argument_range(plan.bufsize);
        case BenchFault::step_out_of_range:
            return plan.step > bench_argument_max;
        case BenchFault::offset_out_of_range:
            return plan.offset > bench_offset_max;
        case BenchFault::interval_out_of_range:
            return plan.flush_interval > bench_argument_max;
        case BenchFault::flush_without_write:
            return plan.flush_interval != 0 && !plan.write;
        case BenchFault::flush_below_depth:
            return plan.flush_interval != 0 && plan.flush_interval < plan.depth;
        case BenchFault::first_request_past_end:
            return plan.bufsize > plan.image_size || plan.offset > plan.image_size - plan.bufsize;
    }
    return false;
}

std::optional<BenchFault> first_fault(const BenchPlan& plan) {
    for (const auto& [fault, name] : faults) {
        if (has_fault(plan, fault)) {
            return fault;
        }
    }
    return std::nullopt;
}

std::uint64_t effective_step(const BenchPlan& plan) {
    return plan.step == 0 ? plan.bufsize : plan.step;
}

std::uint64_t next_offset(const BenchPlan& plan, WrapRule rule, std::uint64_t current) {
    std::uint64_t modulus = plan.image_size;
    if (rule == WrapRule::modulo_size_less_buffer) {
        modulus = plan.image_size > plan.bufsize ? plan.image_size - plan.bufsize : 0;
    }
    return add_modulo(current, effective_step(plan), modulus);
}

bool stays_linear(const BenchPlan& plan) {
    if (plan.count == 0) {
        return true;
    }
    // Bytes between the end of the first request and the end of the image.
    if (plan.bufsize >= plan.image_size || plan.offset >= plan.image_size - plan.bufsize) {
        return false;
    }
    const std::uint64_t room = plan.image_size - plan.bufsize - plan.offset;
    const std::uint64_t step = effective_step(plan);
    return step == 0 || plan.count - 1 <= (room - 1) / step;
}

std::uint64_t flush_count(const BenchPlan& plan) {
    if (plan.flush_interval == 0 || plan.count == 0) {
        return 0;
    }
    return (plan.count - full_queue(plan)) / plan.flush_interval + 1;
}

bool flushes_after(const BenchPlan& plan, std::uint64_t completed) {
    return plan.flush_interval != 0 && completed <= plan.count && completed != 0 &&
           completed >= full_queue(plan) && (plan.count - completed) % plan.flush_interval == 0;
}

OffsetSchedule::Iterator& OffsetSchedule::Iterator::operator++() {
    assert(left_ > 0);
    --left_;
    offset_ = next_offset(schedule_->plan_, schedule_->rule_, offset_);
    return *this;
}

}  // namespace difffuzz

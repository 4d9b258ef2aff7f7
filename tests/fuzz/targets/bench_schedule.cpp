// The schedule of `bench`, and the split of transfers that the image builders use.
//
// Input, little-endian, raw values that nothing clamps: count u32, depth u32, bufsize u64, step
// u64, offset u64, flush_interval u32, flags u8 (bit 0 write, bit 1 no drain), pattern u8,
// image_size u64; what follows is ignored. Shorter input is refused.
//
// Of the plan as it is:
//  1. Validation never fails hard. The condition of the fault that it names holds, those of the
//     faults before it do not, and without a fault none holds.
//  2. The effective step is the step, or the buffer's size where it is 0.
//  3. The next offset is below the image's size (modulo_size), or below the size less the buffer
//     (modulo_size_less_buffer), and 0 where that is not above 0; and it is the sum modulo that.
//  4. No flush falls at 0, after the last request, or without an interval.
// Of a copy with count at most 4096, bufsize in 1…2 MiB and step at most 2147483647:
//  5. The schedule has exactly `count` offsets and says so beforehand; the first is `offset` as it
//     is, the others are below the bound of 3.
//  6. Where it says that it stays linear, both rules give offset + i * step.
//  7. The number of k in 1…count after which a flush falls is the flush count.
//  8. A split of a length of up to 16 MiB: pieces above 0 and of at most `max` bytes, each where
//  the
//     last one ended (or at 2^64 - 1), the length in all; none where length or max is 0.
//  9. All of it takes no memory.
#include <algorithm>
#include <array>
#include <limits>

#include "images/transfer_split.hpp"
#include "pickers/bench_schedule.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/seeds.hpp"
#include "tests/fuzz/target_rows.hpp"

namespace difffuzz::fuzz {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t largest_argument = 2'147'483'647;
constexpr std::uint64_t largest_offset = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::array rules{WrapRule::modulo_size, WrapRule::modulo_size_less_buffer};
constexpr std::array faults{
    BenchFault::count_out_of_range,     BenchFault::depth_out_of_range,
    BenchFault::buffer_out_of_range,    BenchFault::step_out_of_range,
    BenchFault::offset_out_of_range,    BenchFault::interval_out_of_range,
    BenchFault::flush_without_write,    BenchFault::flush_below_depth,
    BenchFault::first_request_past_end,
};

std::optional<BenchPlan> decode(std::string_view input) {
    const auto count = take<std::uint32_t>(input);
    const auto depth = take<std::uint32_t>(input);
    const auto bufsize = take<std::uint64_t>(input);
    const auto step = take<std::uint64_t>(input);
    const auto offset = take<std::uint64_t>(input);
    const auto interval = take<std::uint32_t>(input);
    const auto flags = take<std::uint8_t>(input);
    const auto pattern = take<std::uint8_t>(input);
    const auto image_size = take<std::uint64_t>(input);
    if (!image_size || !pattern || !flags || !interval || !offset || !step || !bufsize || !depth ||
        !count) {
        return std::nullopt;
    }
    return BenchPlan{*count,   *depth,     *bufsize,           *step,
                     *offset,  *interval,  (*flags & 1U) != 0, (*flags & 2U) != 0,
                     *pattern, *image_size};
}

std::string encode(const BenchPlan& plan) {
    std::string bytes;
    put(bytes, plan.count);
    put(bytes, plan.depth);
    put(bytes, plan.bufsize);
    put(bytes, plan.step);
    put(bytes, plan.offset);
    put(bytes, plan.flush_interval);
    put(bytes, static_cast<std::uint8_t>((plan.write ? 1 : 0) + (plan.no_drain ? 2 : 0)));
    put(bytes, plan.pattern);
    put(bytes, plan.image_size);
    return bytes;
}

// The conditions of the faults in words of their own, with sums that cannot overflow.
bool fault_holds(const BenchPlan& plan, BenchFault fault) {
    const auto outside = [](std::uint64_t value) { return value < 1 || value > largest_argument; };
    const bool flushes = plan.flush_interval > 0;
    switch (fault) {
        case BenchFault::count_out_of_range:
            return outside(plan.count);
        case BenchFault::depth_out_of_range:
            return outside(plan.depth);
        case BenchFault::buffer_out_of_range:
            return outside(plan.bufsize);
        case BenchFault::step_out_of_range:
            return plan.step > largest_argument;
        case BenchFault::offset_out_of_range:
            return plan.offset > largest_offset;
        case BenchFault::interval_out_of_range:
            return plan.flush_interval > largest_argument;
        case BenchFault::flush_without_write:
            return flushes && !plan.write;
        case BenchFault::flush_below_depth:
            return flushes && plan.depth > plan.flush_interval;
        case BenchFault::first_request_past_end:
            return Wide{plan.offset} + plan.bufsize > plan.image_size;
    }
    return false;
}

void check_faults(const BenchPlan& plan) {
    const auto first = first_fault(plan);
    bool reached = false;
    for (const BenchFault fault : faults) {
        require(has_fault(plan, fault) == fault_holds(plan, fault), "a fault is its condition");
        reached = reached || first == fault;
        require(reached || !fault_holds(plan, fault), "the first fault comes first");
    }
    require(!first || fault_holds(plan, *first), "the fault that is named holds");
}

std::uint64_t wrap_modulus(const BenchPlan& plan, WrapRule rule) {
    if (rule == WrapRule::modulo_size) {
        return plan.image_size;
    }
    return plan.image_size > plan.bufsize ? plan.image_size - plan.bufsize : 0;
}

void check_next(const BenchPlan& plan, std::uint64_t current) {
    const std::uint64_t step = plan.step == 0 ? plan.bufsize : plan.step;
    require(effective_step(plan) == step, "the effective step is the step or the buffer");
    for (const WrapRule rule : rules) {
        const std::uint64_t modulus = wrap_modulus(plan, rule);
        const std::uint64_t next = next_offset(plan, rule, current);
        require(modulus == 0 ? next == 0 : next < modulus, "the next offset is inside the bound");
        require(modulus == 0 || next == (Wide{current} + step) % modulus, "the sum is wrapped");
    }
}

void check_no_flush(const BenchPlan& plan) {
    require(!flushes_after(plan, 0), "no flush before the first request");
    require(!flushes_after(plan, std::uint64_t{plan.count} + 1), "no flush after the last one");
    if (plan.flush_interval == 0) {
        require(
            flush_count(plan) == 0 && !flushes_after(plan, 1) && !flushes_after(plan, plan.count),
            "no flush without an interval");
    }
}

void check_schedule(const BenchPlan& plan) {
    const bool linear = stays_linear(plan);
    for (const WrapRule rule : rules) {
        const OffsetSchedule schedule(plan, rule);
        const std::uint64_t modulus = wrap_modulus(plan, rule);
        std::uint32_t seen = 0;
        for (const std::uint64_t offset : schedule) {
            require(seen > 0 || offset == plan.offset, "the first offset is not wrapped");
            require(seen == 0 || (modulus == 0 ? offset == 0 : offset < modulus),
                    "later offsets are inside the bound");
            require(
                !linear || Wide{offset} == Wide{plan.offset} + Wide{seen} * effective_step(plan),
                "a linear schedule is a straight line");
            ++seen;
        }
        require(seen == plan.count && schedule.size() == plan.count, "there are count offsets");
    }
}

void check_flushes(const BenchPlan& plan) {
    std::uint64_t flushes = 0;
    for (std::uint64_t k = 1; k <= plan.count; ++k) {
        flushes += flushes_after(plan, k) ? 1U : 0U;
    }
    require(flushes == flush_count(plan), "the flushes are as many as the count says");
}

void check_split(std::uint64_t offset, std::uint64_t length, std::uint64_t max) {
    std::uint64_t sum = 0;
    for (const TransferPiece piece : TransferSplit(offset, length, max)) {
        const Wide expected = std::min<Wide>(Wide{offset} + sum, ~std::uint64_t{0});
        require(piece.length > 0 && piece.length <= max, "a piece is bounded and not empty");
        require(piece.offset == expected, "a piece begins where the last one ended");
        sum += piece.length;
    }
    require(sum == (max == 0 ? 0 : length), "the pieces are the whole transfer");
}

Verdict run(std::string_view input) {
    const auto decoded = decode(input);
    if (!decoded) {
        return Verdict::refused;
    }
    const MemoryMeter meter;
    const BenchPlan& raw = *decoded;
    check_faults(raw);
    check_next(raw, raw.offset);
    check_next(raw, raw.step);
    check_no_flush(raw);

    BenchPlan plan = raw;
    plan.count = std::min(plan.count, 4096U);
    plan.bufsize = std::clamp(plan.bufsize, std::uint64_t{1}, 2 * mebibyte);
    plan.step = std::min(plan.step, largest_argument);
    check_no_flush(plan);
    check_schedule(plan);
    check_flushes(plan);
    // At most 4096 pieces, so that a byte at a time stays quick.
    const std::uint64_t length =
        std::min(raw.image_size % (16 * mebibyte + 1), 4096 * plan.bufsize);
    check_split(raw.offset, length, plan.bufsize);
    check_split(raw.offset, 0, raw.bufsize);
    check_split(raw.offset, length, 0);
    require(meter.peak() == 0, "a schedule takes no memory");
    return Verdict::accepted;
}

std::vector<Seed> seeds() {
    BenchPlan plan{.count = 100,
                   .depth = 8,
                   .bufsize = 4096,
                   .offset = 512,
                   .flush_interval = 16,
                   .write = true,
                   .pattern = 0xA5,
                   .image_size = 4 * mebibyte};
    const std::string valid = encode(plan);
    std::vector<Seed> seeds{{valid}};
    add_prefixes(seeds, valid, valid.size());
    const auto add = [&](auto change) {
        BenchPlan changed = plan;
        change(changed);
        seeds.push_back({encode(changed)});
    };
    add([](BenchPlan& p) { p = BenchPlan{}; });
    add([](BenchPlan& p) { p.count = 0; });
    add([](BenchPlan& p) { p.count = 1; });
    add([](BenchPlan& p) { p.count = 4096; });
    add([](BenchPlan& p) { p.count = 4097; });
    add([](BenchPlan& p) { p.count = largest_argument; });
    add([](BenchPlan& p) { p.count = largest_argument + 1U; });
    add([](BenchPlan& p) { p.depth = 0; });
    add([](BenchPlan& p) { p.depth = 16; });
    add([](BenchPlan& p) { p.depth = 17; });
    add([](BenchPlan& p) { p.depth = ~0U; });
    add([](BenchPlan& p) { p.bufsize = 0; });
    add([](BenchPlan& p) { p.bufsize = 1; });
    add([](BenchPlan& p) { p.bufsize = 2 * mebibyte; });
    add([](BenchPlan& p) { p.bufsize = 2 * mebibyte + 1; });
    add([](BenchPlan& p) { p.bufsize = ~std::uint64_t{0}; });
    add([](BenchPlan& p) { p.step = 1; });
    add([](BenchPlan& p) { p.step = largest_argument; });
    add([](BenchPlan& p) { p.step = largest_argument + 1U; });
    add([](BenchPlan& p) { p.step = ~std::uint64_t{0}; });
    add([](BenchPlan& p) { p.offset = 4 * mebibyte - 4096; });
    add([](BenchPlan& p) { p.offset = 4 * mebibyte - 4095; });
    add([](BenchPlan& p) { p.offset = largest_offset; });
    add([](BenchPlan& p) { p.offset = largest_offset + 1; });
    add([](BenchPlan& p) { p.offset = ~std::uint64_t{0}; });
    add([](BenchPlan& p) { p.flush_interval = 0; });
    add([](BenchPlan& p) { p.flush_interval = 7; });
    add([](BenchPlan& p) { p.flush_interval = ~0U; });
    add([](BenchPlan& p) { p.write = false; });
    add([](BenchPlan& p) { p.no_drain = true; });
    add([](BenchPlan& p) { p.image_size = 0; });
    add([](BenchPlan& p) { p.image_size = 4096; });
    add([](BenchPlan& p) { p.image_size = 4097; });
    add([](BenchPlan& p) { p.image_size = 16 * mebibyte; });
    add([](BenchPlan& p) { p.image_size = ~std::uint64_t{0}; });
    seeds.push_back({valid + valid});
    return seeds;
}

}  // namespace

Target bench_schedule() { return {"bench_schedule", Tier::arithmetic, run, seeds}; }

}  // namespace difffuzz::fuzz

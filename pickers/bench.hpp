// Draws of `bench`: a run of reads or writes that stays inside the image and never wraps.
#pragma once

#include <optional>

#include "pickers/bench_schedule.hpp"
#include "pickers/picker.hpp"

namespace difffuzz {

const Picker& bench_picker();

// What a valid bench run asks for at most.
inline constexpr std::uint32_t bench_max_count = 256;
inline constexpr std::uint32_t bench_max_depth = 64;
inline constexpr std::uint64_t bench_max_buffer = std::uint64_t{2} << 20;     // bytes
inline constexpr std::uint64_t bench_max_image = std::uint64_t{64} << 20;     // bytes asked for
inline constexpr std::uint64_t bench_max_transfer = std::uint64_t{32} << 20;  // count * buffer

// The plan that the case's last step asks for, with the reference's defaults for what it leaves out
// and the actual virtual size of its image. Nothing where a value is a literal or does not fit the
// reference's bounds, or where the image does not exist.
std::optional<BenchPlan> bench_plan_of(const Case& c);

}  // namespace difffuzz

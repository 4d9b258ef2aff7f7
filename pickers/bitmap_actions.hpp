// What the actions of "qemu-img bitmap" do to the dirty bitmaps of an image, and what each needs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "images/state_model.hpp"

namespace difffuzz {

// "--add", "--remove", ...: options of which a call has one or more, done in their order.
std::span<const std::string_view> bitmap_actions();
bool is_bitmap_action(std::string_view option);

// Granularities that a bitmap may have: powers of two between these, bytes.
inline constexpr std::uint64_t min_bitmap_granularity = 512;
inline constexpr std::uint64_t max_bitmap_granularity = std::uint64_t{1} << 31;
// That of a bitmap for which none is asked: a cluster, within 4 KiB and 64 KiB.
std::uint64_t default_granularity(const ImageState& image);

inline constexpr std::size_t max_bitmap_name = 1023;  // bytes

// Whether the image can have bitmaps: qcow2 of version 3.
bool can_have_bitmaps(const ImageState& image);

// The bitmap that the step is about; nothing when it names none.
std::optional<std::string> bitmap_of_step(const Step& step);

// Whether bitmaps of image `source` can be read while `id` is written: its chain must not hold it.
bool can_read_while_writing(const CaseState& state, const std::string& source,
                            const std::string& id);

// Does all actions of the step, in order, to image `id`, which can have bitmaps, or nothing: then
// returns the name of the rule that the first refused action breaks. (qemu-img keeps what the
// actions before that one did.)
std::string_view do_bitmap_actions(const Step& step, const std::string& id, CaseState& state);

}  // namespace difffuzz

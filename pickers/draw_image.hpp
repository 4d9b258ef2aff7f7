// Shared drawing of input images: format, size, options, backing chain and content program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pickers/image_options.hpp"
#include "pickers/picker.hpp"

namespace difffuzz {

struct ImageWish {
    // Formats to draw from, with weights; those the plan does not declare are left out.
    std::vector<Weighted<std::string_view>> formats{
        {"qcow2", 5}, {"raw", 3}, {"vmdk", 1}, {"vpc", 1}};
    // The same for backing images; empty: as `formats`.
    std::vector<Weighted<std::string_view>> backing_formats{};
    std::uint64_t min_size = 1;                          // bytes asked for
    std::uint64_t max_size = std::uint64_t{5} << 30;     // bytes asked for
    std::uint64_t max_content = std::uint64_t{8} << 20;  // bytes of allocated content
    unsigned backing_percent = 25;                       // for formats that have backing files
    bool compressed = true;                              // allow compressed clusters
    ImageVariety variety = ImageVariety::options;
};

// All formats that images are built of, for ImageWish::formats.
std::vector<Weighted<std::string_view>> every_format();

// Images of all formats with all that these know: for operations that read.
ImageWish every_image();

// Draws image `id` below the draw scope "image[<id>]" and appends it to `c` (after its backing
// images, whose ids are `id` + "_b1" and so on). Returns its id.
std::string draw_image(Case& c, const PickContext& context, const std::string& id,
                       const ImageWish& wish);

// A virtual size, bytes: tiny, odd, next to a multiple of `unit`, powers of two, mid-size, or
// (where `max` allows) above 4 GiB. Within [min, max].
std::uint64_t draw_size(const Draws& draws, std::uint64_t unit, std::uint64_t min,
                        std::uint64_t max);

// A spelling of `bytes` that qemu-img reads as exactly this number: decimal, binary suffix, or
// (where exact) with a fraction.
SizeValue draw_spelling(const Draws& draws, std::uint64_t bytes);

// A content program for an image of virtual size `size` that hugs the boundaries of `unit` bytes
// and both ends; at most `max_content` bytes of data, median below 128 KiB.
std::vector<ContentWrite> draw_content(const Draws& draws, std::uint64_t size, std::uint64_t unit,
                                       std::uint64_t max_content, bool compressed);

}  // namespace difffuzz

// Drawing input images for operations that change images: more of what qcow2 images can be.
#pragma once

#include <string>
#include <string_view>

#include "pickers/draw_image.hpp"

namespace difffuzz {

struct StateWish {
    ImageWish image;
    // Per cent of the qcow2 images that get each.
    unsigned version_2_percent = 15;
    unsigned refcount_bits_percent = 15;
    unsigned extended_l2_percent = 12;
    unsigned snapshots_percent = 20;
    // Per cent of the qcow2 images that become qed images, for operations on those.
    unsigned qed_percent = 0;
};

// As draw_image(), and then all images of the chain that are qcow2 may get a version, refcount
// width, extended L2 entries and internal snapshots, as far as the format takes them.
std::string draw_state_image(Case& c, const PickContext& context, const std::string& id,
                             const StateWish& wish);

// Whether refcounts of `bits` bits can count `references` to every cluster of an image. Many
// compressed clusters may lie in one.
bool refcounts_suffice(const Case& c, const std::string& image, unsigned bits,
                       std::size_t references);

// A name for a snapshot: plain, a number (so that it looks like an id), with blanks and signs, not
// ASCII, not UTF-8, or as long as can be (255 bytes).
std::string draw_snapshot_name(const Draws& draws);

}  // namespace difffuzz

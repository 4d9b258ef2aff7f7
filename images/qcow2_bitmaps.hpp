// Persistent dirty bitmaps of qcow2 images, both ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/cases/image_recipe.hpp"
#include "images/bitmap_content.hpp"
#include "images/qcow2_header.hpp"
#include "images/sparse_writer.hpp"

namespace difffuzz::qcow2 {

// A bitmap that a file holds; enabled: the flag "auto".
using Bitmap = BitmapContent;

// All bitmaps of a file, in the order of its directory; none unless the header says that they are
// up to date. Throws ImageError where qemu-img would refuse them, and for more than 2^20 table
// entries, 64 MiB of bits or 2^20 dirty ranges in all.
std::vector<Bitmap> list_bitmaps(const std::string& directory, const std::string& name);

// The clusters that bitmaps take in a new image: for each, its table and the clusters of its bits,
// and after them all the directory. A cluster of bits that are all equal is not stored, except for
// dirty ones at the end of the bitmap.
class BitmapArea {
public:
    BitmapArea(const std::vector<BitmapRecipe>& bitmaps, std::uint64_t disk_size,
               std::uint64_t cluster_bytes);

    std::uint64_t clusters() const { return clusters_; }
    // Where the directory lies in a file that has the area at `offset`.
    BitmapDirectory directory(std::uint64_t offset) const;
    void write(std::uint64_t offset, SparseWriter& out) const;

private:
    struct Placed {
        const BitmapRecipe* recipe = nullptr;
        std::uint64_t table = 0;  // offset in the area
        std::uint64_t entries = 0;
        // By number of the entry: its bits, or none when all are dirty.
        std::map<std::uint64_t, std::vector<std::byte>> dirty;
    };

    Placed place(const BitmapRecipe& recipe, std::uint64_t disk_size) const;
    std::vector<std::byte> encode_directory(std::uint64_t offset) const;

    std::uint64_t cluster_bytes_;
    std::uint64_t clusters_ = 0;
    std::uint64_t directory_ = 0;  // offset in the area
    std::vector<Placed> bitmaps_;
};

}  // namespace difffuzz::qcow2

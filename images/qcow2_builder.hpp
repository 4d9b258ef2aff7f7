// Makes a qcow2 image in-process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/cases/image_recipe.hpp"
#include "images/content_source.hpp"
#include "images/qcow2_layout.hpp"

namespace difffuzz::qcow2 {

struct BuildOptions {
    // Version 2 has refcounts of 16 bits and nothing of what follows up to `compression`.
    unsigned version = 3;
    unsigned cluster_bits = 16;
    unsigned refcount_bits = 16;
    bool extended_l2 = false;
    bool lazy_refcounts = false;
    Compression compression = Compression::zlib;
    std::string data_file;  // empty: data lies in the image
    // The data file is an image of the disk by itself.
    bool data_file_raw = false;
    std::string backing_name;  // empty: no backing file
    std::string backing_format;
    // Snapshot k has the id k + 1 and was taken k seconds after the first.
    std::vector<SnapshotRecipe> snapshots;
    std::uint32_t snapshot_seconds = 0;  // of the epoch
    std::uint32_t snapshot_nanoseconds = 0;
    std::vector<BitmapRecipe> bitmaps;
    // Its clusters are encrypted with this recipe's key (images/luks_volume.hpp); null: plain. Must
    // outlive the building.
    const ImageRecipe* encrypted = nullptr;
};

// Makes `directory`/`name`, and the data file beside it. `contents` says what a guest reads in each
// snapshot, then in the active state; its virtual size is that of the disk. The writes decide only
// how each cluster is kept (images/qcow2_states.hpp). The file holds, in this order: header,
// refcount table, refcount blocks, L1 table, L2 tables, plain clusters, compressed clusters
// (images/qcow2_plan.hpp), the snapshots' L1 tables, the snapshot table, bitmaps, the LUKS header.
// Zeros in plain clusters are holes in the file. Subclusters with the zero flag hold foreign bytes
// there, unallocated ones nothing. In a data file plain clusters lie at their guest offset, as
// qemu-img demands; if it is raw there are no foreign bytes.
void build_image(const BuildOptions& options, std::span<const ContentSource* const> contents,
                 const std::vector<ContentWrite>& writes, const std::string& directory,
                 const std::string& name);

}  // namespace difffuzz::qcow2

// Makes a qcow2 version 3 image in-process.
#pragma once

#include <cstdint>
#include <string>

#include "core/cases/image_recipe.hpp"
#include "images/content_source.hpp"
#include "images/qcow2_layout.hpp"

namespace difffuzz::qcow2 {

struct BuildOptions {
    unsigned cluster_bits = 16;
    bool lazy_refcounts = false;
    Compression compression = Compression::zlib;
    std::string backing_name;  // empty: no backing file
    std::string backing_format;
};

// Makes `directory`/`name`. Its virtual size is that of `content`, which says what a guest reads;
// the recipe's writes decide only how each cluster is kept:
//   1. touched by a write: an allocated cluster;
//   2. covered by a compressed write: a compressed cluster, allocated if that saves nothing;
//   3. covered by a zero write: the zero flag, and the cluster stays allocated, with foreign bytes
//      in it, if it was; touched by a zero write: an allocated cluster;
//   4. untouched: unallocated.
// A later write goes over an earlier one. The file holds, in this order: header, refcount table,
// refcount blocks, L1 table, L2 tables, allocated clusters, compressed clusters packed byte by
// byte. Zeros in allocated clusters are holes in the file.
void build_image(const BuildOptions& options, const ContentSource& content,
                 const std::vector<ContentWrite>& writes, const std::string& directory,
                 const std::string& name);

}  // namespace difffuzz::qcow2

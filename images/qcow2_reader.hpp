// Reads the guest-visible content of a qcow2 image in-process.
#pragma once

#include <memory>
#include <string>

#include "images/content_source.hpp"

namespace difffuzz::qcow2 {

// Versions 2 and 3, all cluster sizes, zero clusters, compressed clusters (deflate, zstd), extended
// L2 entries, external data files, LUKS encryption (by luks_password), and the chain of backing
// files, each opened with the format recorded in the header. Other files are opened only by a plain
// name in `directory`. Data clusters past the end of the file read as zeros, as they do in
// qemu-img; tables there are an error. Other encryption, a backing file without a recorded format
// and chains longer than max_chain are refused. Throws ImageError. Memory stays within a few MiB
// for each image of the chain. For snapshots see images/qcow2_snapshots.hpp.
std::unique_ptr<ContentSource> open_image(const std::string& directory, const std::string& name);

}  // namespace difffuzz::qcow2

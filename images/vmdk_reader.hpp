// Reads vmdk images of one sparse file (monolithicSparse) in-process.
#pragma once

#include <memory>
#include <string>

#include "images/content_source.hpp"

namespace difffuzz::vmdk {

// Throws ImageError for what is not plainly such an image without a parent: other subformats,
// compression, features that it does not know.
std::unique_ptr<ContentSource> open_image(const std::string& directory, const std::string& name);

}  // namespace difffuzz::vmdk

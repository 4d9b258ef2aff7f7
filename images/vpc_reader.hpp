// Reads fixed and dynamic vpc images in-process.
#pragma once

#include <memory>
#include <string>

#include "images/content_source.hpp"

namespace difffuzz {

// Throws ImageError for what is not plainly such an image as qemu-img writes it: other creators
// mean other things by the geometry.
std::unique_ptr<ContentSource> open_vpc_image(const std::string& directory,
                                              const std::string& name);

}  // namespace difffuzz

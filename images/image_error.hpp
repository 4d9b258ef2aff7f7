// What is wrong with an image or an image recipe.
#pragma once

#include <stdexcept>

namespace difffuzz {

// An image that cannot be built from its recipe, or read: one sentence that says what and where.
class ImageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace difffuzz

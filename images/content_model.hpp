// What an image must contain, computed from its recipe alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/cases/case.hpp"
#include "images/content_source.hpp"

namespace difffuzz {

// The expected content of a file after a step: that of image `image` of the case (with its backing
// chain), the images of `then` behind it one after the other, then `writes` on top, all seen
// through a window of `size` bytes (zeros past the last image's end).
struct ContentExpectation {
    std::string image;       // id of an image recipe of the case; empty: zeros throughout
    std::uint64_t size = 0;  // virtual size expected, bytes
    std::vector<ContentWrite> writes;
    std::vector<std::string> then = {};  // ids of image recipes, only with `image`
    bool operator==(const ContentExpectation&) const = default;
};

// The model of a recipe's image as built; its size is actual_size() of the recipe. The case must
// outlive the result.
std::unique_ptr<ContentSource> model_of(const Case& c, const std::string& image);
std::unique_ptr<ContentSource> model_of(const Case& c, const ContentExpectation& expectation);

}  // namespace difffuzz

// Guest-visible bytes of an image or of a model, read without a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace difffuzz {

// A run of equal kind. `zero` promises that all its bytes read as zero; false promises nothing.
struct ContentExtent {
    std::uint64_t length = 0;  // bytes, at least 1
    bool zero = false;
};

class ContentSource {
public:
    virtual ~ContentSource() = default;
    // Virtual size, bytes.
    virtual std::uint64_t size() const = 0;
    // The extent that begins at `offset` (< size()); never reaches past size().
    virtual ContentExtent extent(std::uint64_t offset) const = 0;
    // Fills `bytes` from `offset`; offset + bytes.size() <= size(). Throws ImageError (images/
    // image_error.hpp) where the image is broken.
    virtual void read(std::uint64_t offset, std::span<std::byte> bytes) const = 0;
};

}  // namespace difffuzz

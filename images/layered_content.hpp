// Contents that stand on other contents, several of which may stand on the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/cases/image_recipe.hpp"
#include "images/content_source.hpp"

namespace difffuzz {

using SharedContent = std::shared_ptr<const ContentSource>;

// `writes` over `lower` (null: nothing), seen through a window of `size` bytes. Where neither has
// anything, there are zeros. The fills of the writes are copied.
SharedContent written_over(std::uint64_t size, SharedContent lower,
                           std::span<const ContentWrite> writes);
// Each part begins where the one before it ends.
SharedContent concatenated(const std::vector<SharedContent>& parts);
// Without its first `offset` bytes; nothing when it is shorter.
SharedContent sliced(SharedContent whole, std::uint64_t offset);
// `upper` in `ranges`, `lower` elsewhere, in the size of `lower`; zeros behind the end of either.
SharedContent covered(SharedContent lower, SharedContent upper,
                      const std::vector<ByteRange>& ranges);

}  // namespace difffuzz

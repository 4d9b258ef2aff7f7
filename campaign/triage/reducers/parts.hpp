// What several reducers share: pieces of lists, simpler numbers, who names what.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "campaign/triage/reducer.hpp"

namespace difffuzz {

// Pieces of a list of `size` items, as first index and number: the whole, its halves, their halves
// and so on to single items; of one size from the last to the first.
std::vector<std::pair<std::size_t, std::size_t>> pieces(std::size_t size);

// Without `count` items from `begin` on.
template <typename Item>
void erase_piece(std::vector<Item>& items, std::size_t begin, std::size_t count) {
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin);
    items.erase(first, first + static_cast<std::ptrdiff_t>(count));
}

// Simpler ones than `value`, all smaller, the simplest first: 0, 1 and sizes that disks are made
// of; the value rounded down to such a unit, or to a power of two; half of it.
std::vector<std::uint64_t> simpler_numbers(std::uint64_t value);

// Whether an argument of the step names the image or output.
bool names_image(const Step& step, std::string_view id);

// Without outputs that no step names.
void drop_unused_outputs(Case& c);

// Without `count` writes from `begin` on; snapshots stay where they were between the rest.
void erase_writes(ImageRecipe& image, std::size_t begin, std::size_t count);

// With another virtual size: writes and dirty ranges end there.
void set_image_size(ImageRecipe& image, std::uint64_t size);

// "write 2 of image src", "writes 2 to 4 of image src".
std::string piece_of_image(std::string_view item, std::size_t begin, std::size_t count,
                           std::string_view image);

// "option -U of step 0", "argument 2 of step 0" for a positional one.
std::string argument_name(const Case& c, std::size_t step, std::size_t argument);

}  // namespace difffuzz

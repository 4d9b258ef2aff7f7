#include <algorithm>
#include <set>

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {

std::vector<Edit> size_edits(const Reduced& from, const WordDomain&) {
    std::vector<Edit> edits;
    // Images of one size together first: many operations want it equal.
    std::set<std::uint64_t> seen;
    for (const ImageRecipe& image : from.c.images) {
        const std::uint64_t size = image.size;
        const auto alike = std::ranges::count(from.c.images, size, &ImageRecipe::size);
        if (alike < 2 || !seen.insert(size).second) {
            continue;
        }
        for (const std::uint64_t smaller : simpler_numbers(size)) {
            edits.push_back({"size of all images of " + std::to_string(size) + " bytes",
                             std::to_string(smaller), [size, smaller](Reduced r) {
                                 for (ImageRecipe& one : r.c.images) {
                                     if (one.size == size) {
                                         set_image_size(one, smaller);
                                     }
                                 }
                                 return r;
                             }});
        }
    }
    for (std::size_t i = 0; i < from.c.images.size(); ++i) {
        for (const std::uint64_t smaller : simpler_numbers(from.c.images[i].size)) {
            edits.push_back({"size of image " + from.c.images[i].id, std::to_string(smaller),
                             [i, smaller](Reduced r) {
                                 set_image_size(r.c.images[i], smaller);
                                 return r;
                             }});
        }
    }
    return edits;
}

}  // namespace difffuzz

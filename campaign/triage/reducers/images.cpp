#include <algorithm>

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {

std::vector<Edit> image_edits(const Reduced& from, const WordDomain&) {
    std::vector<Edit> edits;
    for (std::size_t i = from.c.images.size(); i > 0; --i) {
        const ImageRecipe& image = from.c.images[i - 1];
        const bool named = std::ranges::any_of(
            from.c.steps, [&](const Step& step) { return names_image(step, image.id); });
        if (!named) {
            // Who lies on it, lies on what it lies on.
            edits.push_back({"image " + image.id, "", [i](Reduced r) {
                                 const ImageRecipe gone = r.c.images[i - 1];
                                 erase_piece(r.c.images, i - 1, 1);
                                 for (ImageRecipe& other : r.c.images) {
                                     if (other.backing == gone.id) {
                                         other.backing = gone.backing;
                                     }
                                 }
                                 return r;
                             }});
        }
        if (image.backing) {
            edits.push_back({"backing file of image " + image.id, "", [i](Reduced r) {
                                 r.c.images[i - 1].backing.reset();
                                 return r;
                             }});
        }
    }
    return edits;
}

}  // namespace difffuzz

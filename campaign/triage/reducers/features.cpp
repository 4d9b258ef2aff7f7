#include <algorithm>

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {
namespace {

// Pieces of one list of each image.
template <typename List>
void add_pieces(std::vector<Edit>& edits, const Reduced& from, List ImageRecipe::*list,
                std::string_view item) {
    for (std::size_t i = 0; i < from.c.images.size(); ++i) {
        const ImageRecipe& image = from.c.images[i];
        for (const auto& [begin, count] : pieces((image.*list).size())) {
            std::string thing = piece_of_image(item, begin, count, image.id);
            if constexpr (std::is_same_v<List, std::vector<FormatOption>>) {
                if (count == 1) {
                    thing = "option " + (image.*list)[begin].name + " of image " + image.id;
                }
            }
            edits.push_back(
                {std::move(thing), "", [i, list, begin = begin, count = count](Reduced r) {
                     erase_piece(r.c.images[i].*list, begin, count);
                     return r;
                 }});
        }
    }
}

void add_edits_of_bitmap(std::vector<Edit>& edits, const ImageRecipe& image, std::size_t i,
                         std::size_t b) {
    const BitmapRecipe& bitmap = image.bitmaps[b];
    const std::string name = piece_of_image("bitmap", b, 1, image.id);
    for (const auto& [begin, count] : pieces(bitmap.dirty.size())) {
        edits.push_back({"dirty ranges from " + std::to_string(begin) + " of " + name, "",
                         [i, b, begin = begin, count = count](Reduced r) {
                             erase_piece(r.c.images[i].bitmaps[b].dirty, begin, count);
                             return r;
                         }});
    }
    if (!bitmap.enabled) {
        edits.push_back({name, "enabled", [i, b](Reduced r) {
                             r.c.images[i].bitmaps[b].enabled = true;
                             return r;
                         }});
    }
    for (const std::uint64_t simpler : simpler_numbers(bitmap.granularity)) {
        edits.push_back(
            {"granularity of " + name, std::to_string(simpler), [i, b, simpler](Reduced r) {
                 r.c.images[i].bitmaps[b].granularity = simpler;
                 return r;
             }});
    }
}

}  // namespace

std::vector<Edit> feature_edits(const Reduced& from, const WordDomain&) {
    std::vector<Edit> edits;
    add_pieces(edits, from, &ImageRecipe::snapshots, "snapshot");
    add_pieces(edits, from, &ImageRecipe::bitmaps, "bitmap");
    add_pieces(edits, from, &ImageRecipe::options, "option");
    for (std::size_t i = 0; i < from.c.images.size(); ++i) {
        const ImageRecipe& image = from.c.images[i];
        for (std::size_t s = 0; s < image.snapshots.size(); ++s) {
            if (image.snapshots[s].after > 0) {
                edits.push_back({piece_of_image("snapshot", s, 1, image.id), "before all writes",
                                 [i, s](Reduced r) {
                                     r.c.images[i].snapshots[s].after = 0;
                                     return r;
                                 }});
            }
        }
        for (std::size_t b = 0; b < image.bitmaps.size(); ++b) {
            add_edits_of_bitmap(edits, image, i, b);
        }
    }
    return edits;
}

}  // namespace difffuzz

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {
namespace {

const Fill plain_fill = ByteFill{1};

}  // namespace

std::vector<Edit> fill_edits(const Reduced& from, const WordDomain&) {
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < from.c.images.size(); ++i) {
        const ImageRecipe& image = from.c.images[i];
        for (std::size_t w = 0; w < image.content.size(); ++w) {
            if (image.content[w].fill == plain_fill || !has_data(image.content[w].kind)) {
                continue;
            }
            edits.push_back({"content of " + piece_of_image("write", w, 1, image.id),
                             "a byte repeated", [i, w](Reduced r) {
                                 r.c.images[i].content[w].fill = plain_fill;
                                 return r;
                             }});
        }
    }
    return edits;
}

}  // namespace difffuzz

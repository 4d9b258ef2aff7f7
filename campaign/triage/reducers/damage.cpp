#include "images/damage.hpp"
#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {

std::vector<Edit> damage_edits(const Reduced& from, const WordDomain&) {
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < from.c.images.size(); ++i) {
        const ImageRecipe& image = from.c.images[i];
        for (const auto& [begin, count] : pieces(image.damage.size())) {
            edits.push_back({piece_of_image("damage", begin, count, image.id), "",
                             [i, begin = begin, count = count](Reduced r) {
                                 erase_piece(r.c.images[i].damage, begin, count);
                                 return r;
                             }});
        }
        for (std::size_t d = 0; d < image.damage.size(); ++d) {
            const std::string name = piece_of_image("damage", d, 1, image.id);
            // Where a file is cut, or which byte is spoilt, is a place: none is simpler.
            if (image.damage[d].field == damage_length) {
                continue;
            }
            if (image.damage[d].field != damage_bytes && image.damage[d].index > 0) {
                edits.push_back({"place of " + name, "the first", [i, d](Reduced r) {
                                     r.c.images[i].damage[d].index = 0;
                                     return r;
                                 }});
            }
            for (const std::uint64_t simpler : simpler_numbers(image.damage[d].value)) {
                edits.push_back(
                    {"value of " + name, std::to_string(simpler), [i, d, simpler](Reduced r) {
                         r.c.images[i].damage[d].value = simpler;
                         return r;
                     }});
            }
        }
    }
    return edits;
}

}  // namespace difffuzz

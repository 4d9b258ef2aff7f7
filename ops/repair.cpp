#include "ops/repair.hpp"

#include <algorithm>

#include "ops/shared.hpp"
#include "ops/state_shared.hpp"
#include "pickers/repair.hpp"
#include "pickers/repair_damage.hpp"
#include "pickers/step_kind.hpp"

namespace difffuzz {
namespace {

// Whether what a tool found when it checked the image is still so once it closed it: bitmaps are
// stored anew only then, and the clusters that they were in may be somebody else's, too.
bool is_settled(const Case& c, const std::string& id) {
    const ImageRecipe* image = find_image(c, id);
    return image != nullptr && image->bitmaps.empty();
}

// Whether neither the image nor what shows through it has lost data before the steps, or may in
// them. What is damaged must be what the step repairs: another image may not even open.
bool keeps_data(const Case& c, const Step& step, const std::string& id) {
    const std::vector<std::string> chain = chain_of(initial_state(c), id);
    return std::ranges::all_of(chain, [&](const std::string& member) {
        const ImageRecipe* image = find_image(c, member);
        return image != nullptr &&
               (image->damage.empty() ||
                (member == image_of_step(step) && is_settled(c, member) && spares_data(*image)));
    });
}

std::vector<InspectionRequest> inspections(const Case& c, std::size_t step) {
    std::vector<InspectionRequest> requests = state_inspections(c, step);
    for (InspectionRequest& request : requests) {
        request.despite_damage = request.kind == InspectionKind::check
                                     ? is_settled(c, request.image)
                                     : keeps_data(c, c.steps[step], request.image);
    }
    return requests;
}

}  // namespace

const Operation& repair_operation() {
    static const Operation operation{
        .name = "repair",
        .summary = "what is made of images that are damaged",
        .weight = 8,
        .picker = &repair_picker(),
        .cost = state_cost,
        .inspections = inspections,
        .may_change = state_may_change,
        .bytes_stable = never_bytes_stable,
        .layers = state_layers(),
        .text_normalisers = {},
        .json_normalisers = {&disk_size_json(), &vmdk_cid_json(), &snapshot_date_json()},
    };
    return operation;
}

}  // namespace difffuzz

#include "ops/convert_existing.hpp"

#include "images/format.hpp"
#include "ops/convert.hpp"
#include "ops/shared.hpp"
#include "pickers/convert.hpp"
#include "pickers/convert_existing.hpp"
#include "pickers/creation_options.hpp"

namespace difffuzz {
namespace {

Cost cost(const Case& c) {
    Cost cost = images_cost(c);
    // Zeros may be written like data, and where there are clusters, one by one.
    cost.bytes_written += 2 * convert_size(c);
    constexpr std::uint64_t smallest = 4096;
    cost.requests += convert_size(c) / smallest + 1;
    return cost;
}

// What is read covers the beginning of the target; what lies behind stays, as do its snapshots.
std::vector<InspectionRequest> inspections(const Case& c, std::size_t step) {
    const ImageRecipe* target = existing_target(c);
    if (target == nullptr || convert_sources(c.steps[step]).empty()) {
        return {};
    }
    const std::string id = target->id;
    const ContentExpectation before = ContentExpectation::of_image(id);
    std::vector<InspectionRequest> requests = output_inspections(id, target->format, before);
    if (!std::holds_alternative<RefusedIntent>(c.steps[step].intent)) {
        requests.front().expected = before.covered(convert_content(c), {{0, convert_size(c)}});
    }
    requests.front().expected_if_refused = before;
    for (std::size_t i = 0; i < target->snapshots.size(); ++i) {
        InspectionRequest request = requests.front();
        request.snapshot = std::to_string(i + 1);
        request.expected = ContentExpectation::of_snapshot(id, i);
        request.expected_if_refused = request.expected;
        requests.push_back(std::move(request));
    }
    return requests;
}

std::vector<std::string> may_change(const Case& c, std::size_t) {
    const ImageRecipe* target = existing_target(c);
    return target == nullptr ? std::vector<std::string>{} : std::vector{target->id};
}

}  // namespace

const Operation& convert_existing_operation() {
    static const Operation operation{
        .name = "convert_existing",
        .summary = "a copy of images into one that exists",
        .weight = 6,
        .picker = &convert_existing_picker(),
        .cost = cost,
        .inspections = inspections,
        .may_change = may_change,
        .bytes_stable = never_bytes_stable,
        .layers = writing_layers(),
        .text_normalisers = {&progress_text(), &failed_read_text()},
        .json_normalisers = {},
    };
    return operation;
}

}  // namespace difffuzz

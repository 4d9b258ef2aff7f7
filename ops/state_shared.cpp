#include "ops/state_shared.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "ops/shared.hpp"
#include "pickers/step_kind.hpp"

namespace difffuzz {
namespace {

StepKinds kinds_of(const Case& c) {
    const Operation* operation = find_operation(c.operation);
    return operation == nullptr ? StepKinds{} : operation->picker->kinds;
}

bool sees(const CaseState& state, const std::string& id, const std::vector<std::string>& changed) {
    const std::vector<std::string> chain = chain_of(state, id);
    return std::ranges::any_of(changed, [&](const std::string& other) {
        return std::ranges::find(chain, other) != chain.end();
    });
}

// `before`: null when the image was made by the step.
void add_contents(const CaseState& after, const std::string& id, const CaseState& before,
                  bool snapshots, std::vector<InspectionRequest>& requests) {
    const ImageState& image = after.at(id);
    InspectionRequest request{InspectionKind::content, id, image.format, content_of(after, id)};
    if (before.contains(id)) {
        request.expected_if_refused = content_of(before, id);
    }
    requests.push_back(request);
    if (!snapshots) {
        return;
    }
    for (const SnapshotState& snapshot : image.snapshots) {
        request.snapshot = snapshot.id;
        request.expected = content_of(after, id, snapshot.own);
        request.expected_if_refused = request.expected;
        requests.push_back(request);
    }
}

}  // namespace

std::vector<std::string> state_may_change(const Case& c, std::size_t step) {
    const StepKinds kinds = kinds_of(c);
    const StepKind* kind = kind_of(kinds, c.steps[step]);
    if (kind == nullptr) {
        return {};
    }
    std::vector<std::string> ids = kind->changes(c, c.steps[step], state_before(c, kinds, step));
    std::erase_if(ids, [&](const std::string& id) { return file_name_of(c, id).empty(); });
    return ids;
}

std::vector<InspectionRequest> state_inspections(const Case& c, std::size_t step) {
    const StepKinds kinds = kinds_of(c);
    const StepKind* kind = kind_of(kinds, c.steps[step]);
    if (kind == nullptr) {
        return {};
    }
    const CaseState before = state_before(c, kinds, step);
    CaseState after = before;
    if (!kind->apply(c, c.steps[step], after).empty()) {
        after = before;
    }
    const std::vector<std::string> changed = kind->changes(c, c.steps[step], before);
    std::vector<InspectionRequest> requests;
    for (const auto& [id, image] : after) {
        const bool itself = std::ranges::find(changed, id) != changed.end();
        if (!itself && !sees(after, id, changed)) {
            continue;
        }
        add_contents(after, id, before, itself, requests);
        if (!itself) {
            continue;
        }
        const Format* format = find_format(image.format);
        if (format != nullptr && format->checkable) {
            requests.push_back({InspectionKind::check, id, image.format, std::nullopt});
        }
        requests.push_back({InspectionKind::info, id, image.format, std::nullopt});
        if (format != nullptr && format->bitmaps) {
            requests.push_back({InspectionKind::bitmaps, id, image.format, std::nullopt});
        }
    }
    return requests;
}

Cost state_cost(const Case& c) {
    const StepKinds kinds = kinds_of(c);
    Cost cost = images_cost(c);
    CaseState state = initial_state(c);
    std::uint64_t data = cost.bytes_written;
    for (const Step& step : c.steps) {
        const StepKind* kind = kind_of(kinds, step);
        if (kind == nullptr) {
            continue;
        }
        kind->apply(c, step, state);
        std::uint64_t allocated = 0;
        for (const Argument& argument : step.arguments) {
            // Sizes of writes and of what is preallocated; a sparse size costs nothing.
            const auto* size = argument.value ? std::get_if<SizeValue>(&*argument.value) : nullptr;
            if (size != nullptr &&
                (step.actor == Actor::neutral || has_option(step, "--preallocation"))) {
                constexpr std::uint64_t most = std::uint64_t{16} << 20;
                allocated = std::max(allocated, std::min(size->bytes, most));
            }
        }
        data += allocated;
        cost.bytes_written += data;
        ++cost.requests;
        for (const auto& [id, image] : state) {
            if (image.cluster != 0) {
                // The L1 table: L2 tables are made where there is data.
                cost.metadata_clusters +=
                    image.own.size / image.cluster / (image.cluster / 8) / (image.cluster / 8) + 8;
            }
        }
    }
    return cost;
}

std::vector<LayerUse> state_layers() {
    std::vector<LayerUse> layers = writing_layers();
    for (LayerUse& use : layers) {
        if (use.id == LayerId::json) {
            use.name = "info";
        }
    }
    return layers;
}

}  // namespace difffuzz

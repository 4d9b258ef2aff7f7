#include "ops/state_shared.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "ops/shared.hpp"
#include "oracles/normaliser.hpp"
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

// A snapshot of another size than its image is read in its own by our readers only: qemu-img shows
// it in the image's.
bool is_readable(const CaseState& state, const std::string& id, const SnapshotState& snapshot) {
    const std::vector<std::string> chain = chain_of(state, id);
    return snapshot.own.size == state.at(id).own.size ||
           std::ranges::all_of(chain, [&](const std::string& member) {
               return find_format(state.at(member).format)->open != nullptr;
           });
}

// An image that `before` lacks was made by the step.
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
        if (!is_readable(after, id, snapshot)) {
            continue;
        }
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

namespace {

// What the step allocates at most beyond what is there, bytes: what a neutral step writes, and what
// is preallocated; a sparse size costs nothing.
std::uint64_t allocated_by(const Step& step, const CaseState& before, const CaseState& after) {
    if (step.actor == Actor::neutral) {
        // An offset, then a length.
        std::uint64_t length = 0;
        for (const Argument* argument : positionals(step)) {
            if (const auto* size = std::get_if<SizeValue>(&*argument->value)) {
                length = size->bytes;
            }
        }
        return length;
    }
    const std::string id = image_of_step(step);
    const auto* mode = option_value<WordValue>(step, "--preallocation");
    if (mode == nullptr || mode->text == "off" || !before.contains(id)) {
        return 0;
    }
    return std::max(after.at(id).own.size, before.at(id).own.size) - before.at(id).own.size;
}

}  // namespace

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
        const CaseState before = state;
        kind->apply(c, step, state);
        const std::uint64_t allocated = allocated_by(step, before, state);
        data += allocated;
        cost.bytes_written += kind->moves_data ? data : allocated;
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

std::vector<const JsonNormaliser*> state_json_normalisers() {
    return {&disk_size_json(), &file_length_json(), &vmdk_cid_json(), &snapshot_date_json()};
}

}  // namespace difffuzz

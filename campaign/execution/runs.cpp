#include "campaign/execution/runs.hpp"

#include <algorithm>
#include <utility>

namespace difffuzz {
namespace {

int strength(LayerVerdict verdict) {
    switch (verdict) {
        case LayerVerdict::diverge:
            return 3;
        case LayerVerdict::agree:
            return 2;
        case LayerVerdict::inconclusive:
            return 1;
        case LayerVerdict::not_applicable:
            return 0;
    }
    return 0;
}

}  // namespace

void merge_layers(std::vector<LayerReport>& into, std::vector<LayerReport> reports) {
    for (LayerReport& report : reports) {
        const auto found = std::ranges::find(into, report.id, &LayerReport::id);
        if (found == into.end()) {
            into.push_back(std::move(report));
            continue;
        }
        std::vector<std::string_view> needed = std::move(found->result.needed);
        needed.insert(needed.end(), report.result.needed.begin(), report.result.needed.end());
        // A reason why it applies to no step gives way to the next one's.
        if (strength(report.result.verdict) > strength(found->result.verdict)) {
            *found = std::move(report);
        }
        found->result.needed = std::move(needed);
    }
}

Case as_meant(Case c) {
    for (Step& step : c.steps) {
        if (std::holds_alternative<DamagedIntent>(step.intent)) {
            step.intent = ValidIntent{};
        }
    }
    return c;
}

bool same_bytes(const StepObservation& one, const StepObservation& other) {
    return !one.files_cut && one.files == other.files &&
           std::ranges::all_of(one.files, [](const FileEntry& file) {
               return file.type == FileType::regular && file.content_hash != 0;
           });
}

bool depends_on_bytes_alone(InspectionKind kind) {
    return kind == InspectionKind::content || kind == InspectionKind::bitmaps;
}

}  // namespace difffuzz

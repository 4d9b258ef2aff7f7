#include "oracles/observation.hpp"

#include <algorithm>

namespace difffuzz {

std::string_view to_string(InspectionKind kind) {
    switch (kind) {
        case InspectionKind::content:
            return "content";
        case InspectionKind::check:
            return "check";
        case InspectionKind::info:
            return "info";
        case InspectionKind::bitmaps:
            return "bitmaps";
    }
    return "unknown";
}

OutcomeClass step_class(const StepObservation& step, const std::vector<int>& answer_codes) {
    const auto* exited = std::get_if<Exited>(&step.outcome.ending);
    if (exited != nullptr && step.outcome.err.observed_bytes == 0 &&
        std::find(answer_codes.begin(), answer_codes.end(), exited->code) != answer_codes.end()) {
        return OutcomeClass::succeeded;
    }
    return outcome_class(step.outcome.ending);
}

}  // namespace difffuzz

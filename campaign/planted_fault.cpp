#include "campaign/planted_fault.hpp"

#include "campaign/workers/messages.hpp"

namespace difffuzz {

bool tells_of(const PlantedFault& fault, const CaseReport& report) {
    if (!report.planted) {
        return false;
    }
    switch (report.terminal) {
        case Terminal::agreed:
        case Terminal::refused_by_both:
        case Terminal::harness_inspection:
            return true;
        case Terminal::diverged:
            return fault.both || report.severity != to_string(Severity::reference);
        default:
            return false;
    }
}

}  // namespace difffuzz

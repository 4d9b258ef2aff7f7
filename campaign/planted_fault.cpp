#include "campaign/planted_fault.hpp"

#include "campaign/workers/messages.hpp"

namespace difffuzz {

bool tells_of(const PlantedFault& fault, const CaseReport& report) {
    const bool by_reference =
        report.terminal == Terminal::diverged && report.severity == to_string(Severity::reference);
    return report.planted && (fault.both || !by_reference);
}

}  // namespace difffuzz

// A fault of the stand-in (apps/canary) as those see it who look for it: pure data.
#pragma once

#include <cstdint>
#include <string>

#include "core/cases/symptom.hpp"

namespace difffuzz {

struct PlantedFault {
    std::string name;
    std::string what;               // one sentence
    std::string operation;          // the row whose cases show it
    LayerId layer = LayerId::exit;  // that diverges first
    bool sole = false;              // no other layer sees the exhibit
    bool both = false;              // planted in both roles: the two sides agree
    std::uint64_t budget = 300;     // drawn cases within which it is found
    std::string exhibit;            // a recipe (JSON text) that shows it
};

struct CaseReport;

// Whether a case that was run with the fault tells of it: it was planted, the case came to its end,
// and the divergence, if there is one, is not of the kind that the reference alone or the model is
// to blame for.
bool tells_of(const PlantedFault& fault, const CaseReport& report);

}  // namespace difffuzz

// A planted fault: one row of the table in faults.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "apps/canary/call.hpp"
#include "core/cases/symptom.hpp"

namespace difffuzz::canary {

// In which roles of a case the stand-in plants it. In both, the sides agree, and what is wrong
// shows only within each.
enum class Roles { subject, both };
// Whether its layer is the only one that sees the exhibit, in whatever step.
enum class Seen { by_its_layer_alone, by_others_too };

struct Fault {
    std::string_view name;       // also its exhibit's: exhibits/<name>.json
    std::string_view operation;  // the row whose cases show it
    LayerId layer;               // that diverges first
    Seen seen;
    Roles roles;
    std::string_view what;  // one sentence, for the report
    // What the caller gets for a command that the fault is about; nothing for all others. May run
    // the real tool as often as it likes.
    std::optional<Answer> (*plant)(const Call& call);
    std::uint64_t budget = 300;  // drawn cases within which it is found
};

using Faults = std::vector<Fault>;

// One file each, by the layers that catch them.
const Faults& ending_faults();     // crash, exit, code
const Faults& output_faults();     // header, error, json, text
const Faults& metadata_faults();   // json of what was written
const Faults& workspace_faults();  // inputs, files
const Faults& content_faults();
const Faults& structure_faults();  // check, bytes
const Faults& relation_faults();
const Faults& determinism_faults();
const Faults& resource_faults();
// Those that a gate answers for: no layer is asked.
const Faults& gate_faults();

// The table: all but those of the gates.
const Faults& faults();
// Also those of the gates. Null when unknown.
const Fault* find_fault(std::string_view name);

// The recipe (JSON text) that shows a fault; empty if there is none.
std::string_view exhibit_of(std::string_view name);

}  // namespace difffuzz::canary

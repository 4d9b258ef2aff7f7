// The convert that a measure speaks of, as a step of the same case: what it writes must not be more
// than what measure says.
#pragma once

#include <optional>

#include "pickers/step_kind.hpp"

namespace difffuzz {

// The convert of the image that the case's last step, a measure, names, with the same options, to
// the output target_id. Nothing where that would be no measure for it (several images or none, a
// backing file), or costly.
std::optional<Step> convert_to_measure(const Case& c);

// Puts it in front of the last step and declares its output; does nothing where there is none.
void add_convert_to_measure(Case& c);

// The kind of that step: it is convert_to_measure() or breaks the rule "convert-to-measure".
const StepKind& measured_convert_kind();
Rule convert_to_measure_rule();

}  // namespace difffuzz

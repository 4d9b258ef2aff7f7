// The fields of qcow2's structures that can be damaged.
#pragma once

#include <span>

#include "images/damage.hpp"

namespace difffuzz::qcow2 {

std::span<const DamageField> damage_fields();

}  // namespace difffuzz::qcow2

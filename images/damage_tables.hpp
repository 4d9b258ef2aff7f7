// The damage tables of the formats, each in images/<format>_damage.cpp; qcow2's is
// images/qcow2_damage.hpp.
#pragma once

#include "images/damage.hpp"

namespace difffuzz {

DamageTable vmdk_damage();
DamageTable vpc_damage();
DamageTable vdi_damage();
DamageTable vhdx_damage();
DamageTable qed_damage();
DamageTable qcow_damage();
DamageTable parallels_damage();
DamageTable luks_damage();

}  // namespace difffuzz

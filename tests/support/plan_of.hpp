// The default plan, narrowed.
#pragma once

#include "core/cases/plan.hpp"
#include "ops/operation.hpp"

namespace difffuzz::test {

// Cases of `operation` alone, of undamaged images, so many in a hundred to be refused.
inline Plan plan_of(const Operation& operation, unsigned refused_percent) {
    Plan plan = default_plan();
    plan.operations = {{std::string(operation.name), 1}};
    plan.refused_percent = refused_percent;
    plan.damaged_percent = 0;
    return plan;
}

}  // namespace difffuzz::test

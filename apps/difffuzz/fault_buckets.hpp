// difffuzz selftest --buckets.
#pragma once

#include "apps/difffuzz/flags.hpp"
#include "campaign/fault_buckets.hpp"

namespace difffuzz {

// A campaign for each of the faults that the flags choose, a table, and the medians. Returns 0 when
// each ends as exactly one bucket of its own, 1 when not, 4 when a campaign tells nothing.
int show_fault_buckets(const Flags& flags, FaultBucketsOptions options);

}  // namespace difffuzz

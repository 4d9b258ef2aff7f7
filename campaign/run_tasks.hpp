// Tasks that are known beforehand, all run by a pool.
#pragma once

#include <deque>
#include <vector>

#include "campaign/workers/pool.hpp"

namespace difffuzz {

// The reports as they come, in no order. A task that ends its worker is run once more; then its
// report says harness_killed. Fewer than there are tasks when the pool is stopped meanwhile.
std::vector<CaseReport> run_tasks(WorkerPool& pool, std::deque<Task> tasks);

// The report of one; of a pool that is stopped meanwhile it says harness_killed.
CaseReport run_task(WorkerPool& pool, Task task);

}  // namespace difffuzz

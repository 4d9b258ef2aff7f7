// Runs a list of tasks to their end, outside of a campaign's order of commit.
#pragma once

#include <deque>
#include <vector>

#include "campaign/workers/pool.hpp"

namespace difffuzz {

// One report for each task, in the order in which they end; a task that ended its worker twice is
// harness_killed. Fewer when the pool is stopped.
std::vector<CaseReport> run_tasks(WorkerPool& pool, std::deque<Task> tasks);

}  // namespace difffuzz

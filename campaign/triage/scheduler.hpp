// Runs triage sessions on workers.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "campaign/triage/session.hpp"
#include "campaign/workers/pool.hpp"

namespace difffuzz {

// Runs the sessions to their ends, at most `at_once` of them beside each other, in their order, and
// candidates of one beside each other where workers are left. `ended` is called as each ends, in
// any order. Returns early when the pool is stopped. What a session finds does not depend on
// `at_once`.
void run_sessions(WorkerPool& pool, std::deque<std::unique_ptr<TriageSession>> sessions,
                  unsigned at_once, const std::function<void(TriageSession&)>& ended);

}  // namespace difffuzz

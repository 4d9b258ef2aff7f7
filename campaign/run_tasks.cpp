#include "campaign/run_tasks.hpp"

#include <map>

namespace difffuzz {

std::vector<CaseReport> run_tasks(WorkerPool& pool, std::deque<Task> tasks) {
    std::vector<CaseReport> reports;
    std::map<std::uint64_t, unsigned> deaths;
    WorkerPool::Handlers handlers;
    handlers.next = [&]() -> NextTask {
        if (tasks.empty()) {
            return NothingLeft{};
        }
        Task task = std::move(tasks.front());
        tasks.pop_front();
        return task;
    };
    handlers.done = [&](const Task&, CaseReport report) { reports.push_back(std::move(report)); };
    handlers.lost = [&](const Task& task) {
        if (++deaths[task.index] < 2) {
            tasks.push_back(task);
            return;
        }
        CaseReport report;
        report.index = task.index;
        report.terminal = Terminal::harness_killed;
        reports.push_back(std::move(report));
    };
    pool.run(handlers);
    return reports;
}

CaseReport run_task(WorkerPool& pool, Task task) {
    CaseReport stopped;
    stopped.index = task.index;
    stopped.terminal = Terminal::harness_killed;
    std::vector<CaseReport> reports = run_tasks(pool, {std::move(task)});
    return reports.empty() ? stopped : std::move(reports.front());
}

}  // namespace difffuzz

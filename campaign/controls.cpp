#include "campaign/controls.hpp"

#include <deque>
#include <map>

namespace difffuzz {
namespace {

constexpr std::uint64_t null_cases = 16;
// Valid cases of an operation until both tools have done one.
constexpr std::uint64_t liveness_tries = 4;
// Indices far from those of a campaign's cases, so that controls draw cases of their own.
constexpr std::uint64_t first_control_index = std::uint64_t{1} << 62;

std::vector<CaseReport> run_all(WorkerPool& pool, std::deque<Task> tasks) {
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

ControlResult null_control(WorkerPool& pool, const Plan& plan, std::uint64_t seed,
                           std::vector<std::string>& failures) {
    std::deque<Task> tasks;
    for (std::uint64_t i = 0; i < null_cases; ++i) {
        Task task;
        task.index = first_control_index + i;
        task.recipe = draw_case(plan, seed, task.index, 0);
        task.roles = {"reference", "reference"};
        tasks.push_back(std::move(task));
    }
    std::uint64_t agreed = 0;
    for (const CaseReport& report : run_all(pool, std::move(tasks))) {
        if (report.terminal == Terminal::agreed || report.terminal == Terminal::refused_by_both) {
            ++agreed;
        } else if (report.terminal == Terminal::diverged && report.severity == "reference") {
            // Both broke the model in the same way: a bug of the reference, not of the comparison.
            ++agreed;
        } else if (report.terminal == Terminal::diverged) {
            failures.push_back("the null control failed: the reference disagrees with itself (" +
                               report.type + ")");
        }
    }
    if (agreed * 2 < null_cases) {
        failures.push_back("the null control failed: only " + std::to_string(agreed) + " of " +
                           std::to_string(null_cases) + " cases could be compared");
    }
    return {"null", failures.empty(),
            std::to_string(agreed) + " of " + std::to_string(null_cases) +
                " cases agree, the reference against itself"};
}

struct Alive {
    bool subject = false;
    bool reference = false;
};

ControlResult liveness_control(WorkerPool& pool, const Plan& plan, std::uint64_t seed,
                               std::vector<std::string>& unavailable) {
    std::map<std::string, Alive> alive;
    for (std::uint64_t round = 0; round < liveness_tries; ++round) {
        std::deque<Task> tasks;
        for (const OperationWeight& operation : plan.operations) {
            const Alive& known = alive[operation.name];
            if (known.subject && known.reference) {
                continue;
            }
            Plan only = plan;
            only.operations = {operation};
            only.refused_percent = 0;
            only.damaged_percent = 0;
            Task task;
            task.index = first_control_index + 1000 * (round + 1) + tasks.size();
            task.recipe = draw_case(only, seed, task.index, 0);
            tasks.push_back(std::move(task));
        }
        for (const CaseReport& report : run_all(pool, std::move(tasks))) {
            alive[report.operation].subject |= report.subject_accepted;
            alive[report.operation].reference |= report.reference_accepted;
        }
    }
    std::size_t subject = 0;
    std::size_t reference = 0;
    for (const OperationWeight& operation : plan.operations) {
        const Alive& known = alive[operation.name];
        subject += known.subject ? 1 : 0;
        reference += known.reference ? 1 : 0;
        if (!known.subject || !known.reference) {
            unavailable.push_back(operation.name);
        }
    }
    for (const auto& [role, count] :
         {std::pair{"subject", subject}, std::pair{"reference", reference}}) {
        if (count == 0) {
            throw EnvironmentError(std::string("the ") + role +
                                   " does none of the operations that were asked for; is it a "
                                   "qemu-img, and can it run here? Its own words: 'difffuzz draw' "
                                   "prints cases to try by hand");
        }
    }
    return {"liveness", true,
            "subject does " + std::to_string(subject) + ", reference " + std::to_string(reference) +
                " of " + std::to_string(plan.operations.size()) + " operations"};
}

}  // namespace

ControlReport run_controls(WorkerPool& pool, const Plan& plan, std::uint64_t seed) {
    ControlReport report;
    report.results.push_back(liveness_control(pool, plan, seed, report.unavailable));
    report.results.push_back(null_control(pool, plan, seed, report.failures));
    report.results.push_back({"positive", true, "none yet"});
    return report;
}

}  // namespace difffuzz

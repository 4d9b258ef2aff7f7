#include "campaign/controls.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>

#include "campaign/run_tasks.hpp"
#include "core/cases/recipe_json.hpp"
#include "oracles/self_difference.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t null_cases = 16;
// Valid cases of an operation until it is known that both tools have it.
constexpr std::uint64_t liveness_tries = 4;
// Indices far from those of a campaign's cases, so that controls draw cases of their own.
constexpr std::uint64_t first_control_index = std::uint64_t{1} << 62;

constexpr std::uint64_t positive_offset = 1'000'000;
constexpr std::uint64_t determinism_offset = 2'000'000;
// Not every reference can do what an exhibit asks for.
constexpr std::size_t positive_tries = 4;
// A machine that is busy may take more than one.
constexpr unsigned positive_runs = 3;

// A simple case: valid, of sound images.
Case simple_case(const Plan& plan, const OperationWeight& operation, std::uint64_t seed,
                 std::uint64_t index) {
    Plan only = plan;
    only.operations = {operation};
    only.refused_percent = 0;
    only.damaged_percent = 0;
    return draw_case(only, seed, index, 0);
}

bool is_of_second_run(const CaseReport& report) {
    return report.terminal == Terminal::diverged &&
           report.severity == to_string(Severity::nondeterminism);
}

void note_varying(const CaseReport& report, std::set<std::string>& varies) {
    if (is_of_second_run(report)) {
        varies.insert(varying_name(report.symptom.at("operation").get<std::string>(),
                                   report.symptom.at("field").get<std::string>()));
    }
}

// The reference's own determinism: a simple case of each operation, twice.
void measure_reference(WorkerPool& pool, const Plan& plan, std::uint64_t seed,
                       std::set<std::string>& varies) {
    std::deque<Task> tasks;
    for (const OperationWeight& operation : plan.operations) {
        Task task;
        task.index = first_control_index + determinism_offset + tasks.size();
        task.recipe = simple_case(plan, operation, seed, task.index);
        task.roles = {"reference", "reference"};
        task.second.again = Again::at_once;
        tasks.push_back(std::move(task));
    }
    for (const CaseReport& report : run_tasks(pool, std::move(tasks))) {
        note_varying(report, varies);
    }
}

ControlResult null_control(WorkerPool& pool, const Plan& plan, std::uint64_t seed, bool again,
                           std::vector<std::string>& failures, std::set<std::string>& varies) {
    std::deque<Task> tasks;
    for (std::uint64_t i = 0; i < null_cases; ++i) {
        Task task;
        task.index = first_control_index + i;
        task.recipe = draw_case(plan, seed, task.index, 0);
        task.roles = {"reference", "reference"};
        task.second.again = again ? Again::at_once : Again::no;
        tasks.push_back(std::move(task));
    }
    std::uint64_t agreed = 0;
    for (const CaseReport& report : run_tasks(pool, std::move(tasks))) {
        note_varying(report, varies);
        if (is_of_second_run(report)) {
            ++agreed;  // the two sides did alike; what one does not repeat is for the layer to know
        } else if (report.terminal == Terminal::agreed ||
                   report.terminal == Terminal::refused_by_both) {
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

// What one tool's tries of an operation came to.
struct Tries {
    unsigned refused = 0;
    bool succeeded = false;
    bool other = false;  // it crashed, timed out or met a limit
    SideEnd last;        // of those that were refused

    bool known() const { return succeeded || other; }
    bool unavailable() const { return refused > 0 && !known(); }

    void add(const std::optional<SideEnd>& end) {
        if (!end) {
            return;
        }
        if (end->outcome == to_string(OutcomeClass::refused) ||
            end->outcome == to_string(OutcomeClass::not_started)) {
            ++refused;
            last = *end;
        } else if (end->outcome == to_string(OutcomeClass::succeeded)) {
            succeeded = true;
        } else {
            other = true;
        }
    }
};

constexpr std::array<const char*, 2> roles{"subject", "reference"};
using TriesOfRoles = std::array<Tries, roles.size()>;

[[noreturn]] void throw_does_nothing(const std::string& role, const std::string& operation,
                                     const SideEnd& end) {
    std::string sentence = "the " + role + " does none of the operations that were asked for; ";
    sentence += end.words.empty() ? "it said nothing" : "it said '" + end.words + "'";
    sentence += " to '" + operation + "' (" + end.outcome + "). ";
    sentence += end.could_not_run ? "A program that needs files outside of the system's "
                                    "directories gets them with --expose DIR"
                                  : "Is it a qemu-img? 'difffuzz draw --as shell' prints cases to "
                                    "try by hand";
    throw EnvironmentError(sentence);
}

ControlResult liveness_control(WorkerPool& pool, const Plan& plan, std::uint64_t seed,
                               std::vector<UnavailableOperation>& unavailable) {
    std::map<std::string, TriesOfRoles> tries;
    for (std::uint64_t round = 0; round < liveness_tries; ++round) {
        std::deque<Task> tasks;
        for (const OperationWeight& operation : plan.operations) {
            if (std::ranges::all_of(tries[operation.name], &Tries::known)) {
                continue;
            }
            Task task;
            task.index = first_control_index + 1000 * (round + 1) + tasks.size();
            task.recipe = simple_case(plan, operation, seed, task.index);
            task.ends = true;
            tasks.push_back(std::move(task));
        }
        for (const CaseReport& report : run_tasks(pool, std::move(tasks))) {
            TriesOfRoles& of = tries[report.operation];
            of[0].add(report.subject_end);
            of[1].add(report.reference_end);
        }
        if (pool.stopped()) {
            return {};
        }
    }
    std::array<std::size_t, roles.size()> succeeded{};
    for (std::size_t r = 0; r < roles.size(); ++r) {
        std::size_t without = 0;
        for (const OperationWeight& operation : plan.operations) {
            const Tries& of = tries[operation.name][r];
            succeeded[r] += of.succeeded ? 1 : 0;
            if (of.unavailable()) {
                ++without;
                unavailable.push_back({operation.name, roles[r], of.last.outcome, of.last.words});
            }
        }
        if (without == plan.operations.size()) {
            const std::string& operation = plan.operations.front().name;
            throw_does_nothing(roles[r], operation, tries[operation][r].last);
        }
    }
    return {"liveness", true,
            "subject does " + std::to_string(succeeded[0]) + ", reference " +
                std::to_string(succeeded[1]) + " of " + std::to_string(plan.operations.size()) +
                " operations"};
}

// Faults to try, the best first: those of operations that the campaign has and both tools do, and
// of these those that show in more than how a command ended. Any, where there are none of these.
std::vector<const PlantedFault*> faults_to_find(
    const std::vector<PlantedFault>& faults, const Plan& plan,
    const std::vector<UnavailableOperation>& unavailable) {
    std::vector<const PlantedFault*> of_campaign;
    std::vector<const PlantedFault*> all;
    for (const PlantedFault& fault : faults) {
        all.push_back(&fault);
        if (std::ranges::count(plan.operations, fault.operation, &OperationWeight::name) > 0 &&
            std::ranges::count(unavailable, fault.operation, &UnavailableOperation::operation) ==
                0) {
            of_campaign.push_back(&fault);
        }
    }
    std::vector<const PlantedFault*>& chosen = of_campaign.empty() ? all : of_campaign;
    std::stable_partition(chosen.begin(), chosen.end(),
                          [](const PlantedFault* fault) { return fault->layer > LayerId::code; });
    return chosen;
}

std::string ended_as(const CaseReport& report) {
    return report.terminal == Terminal::diverged ? report.type
                                                 : std::string(to_string(report.terminal));
}

ControlResult positive_control(WorkerPool& pool, const std::vector<const PlantedFault*>& faults,
                               std::vector<std::string>& failures) {
    for (std::size_t i = 0; i < faults.size() && i < positive_tries; ++i) {
        const PlantedFault& fault = *faults[i];
        Task task;
        task.index = first_control_index + positive_offset + i;
        task.recipe = case_from_text(fault.exhibit);
        task.roles = {"canary", fault.both ? "canary" : "reference", fault.name};
        task.runs = positive_runs;
        if (fault.layer == LayerId::determinism) {
            task.second.again = Again::at_once;
        }
        const std::vector<CaseReport> reports = run_tasks(pool, {std::move(task)});
        if (reports.empty()) {
            return {};  // the pool was stopped
        }
        const CaseReport& report = reports.front();
        if (!tells_of(fault, report)) {
            continue;  // this reference cannot do what the exhibit asks for
        }
        const bool found = report.terminal == Terminal::diverged &&
                           report.symptom.at("layer") == to_string(fault.layer);
        if (!found) {
            failures.push_back("the positive control failed: the planted fault '" + fault.name +
                               "' ended as " + ended_as(report) + ", not as a divergence of " +
                               std::string(to_string(fault.layer)));
        }
        return {"positive", found,
                "planted fault '" + fault.name + "' ends as " + ended_as(report)};
    }
    failures.emplace_back("the positive control failed: no fault could be planted");
    return {"positive", false, "no fault could be planted"};
}

}  // namespace

ControlReport run_controls(WorkerPool& pool, const Plan& plan, std::uint64_t seed,
                           const std::vector<PlantedFault>& faults, bool again) {
    ControlReport report;
    std::set<std::string> varies;
    report.results.push_back(liveness_control(pool, plan, seed, report.unavailable));
    if (!pool.stopped()) {
        report.results.push_back(null_control(pool, plan, seed, again, report.failures, varies));
    }
    if (!pool.stopped() && again) {
        measure_reference(pool, plan, seed, varies);
    }
    report.reference_varies.assign(varies.begin(), varies.end());
    if (!pool.stopped()) {
        report.results.push_back(positive_control(
            pool, faults_to_find(faults, plan, report.unavailable), report.failures));
    }
    if (pool.stopped()) {
        return {};
    }
    return report;
}

}  // namespace difffuzz

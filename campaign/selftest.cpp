#include "campaign/selftest.hpp"

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>

#include <sys/stat.h>

#include <boost/asio/io_context.hpp>

#include "campaign/evidence/files.hpp"
#include "campaign/identify.hpp"
#include "campaign/run_tasks.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t faultless_cases_per_operation = 8;
// For commands that never end; whoever is in time with it is so with any.
constexpr std::chrono::milliseconds gate_time{3000};
// For commands that print too much; they soon do.
constexpr std::uint64_t gate_output_bytes = std::uint64_t{1} << 20;

class Cases {
public:
    Cases(std::uint64_t seed, Plan plan) : seed_(seed), plan_(std::move(plan)) {}

    // The case of an index among those of one operation alone.
    Case draw(const std::string& operation, std::uint64_t index) const {
        Plan only = plan_;
        only.operations = {{operation, 1}};
        return draw_case(only, seed_, index, 0);
    }

private:
    std::uint64_t seed_;
    Plan plan_;
};

Plan plan_of_reference(const SelftestOptions& options, int staging) {
    Plan plan = default_plan();
    const IdentifiedTools tools = identify_tools(options.campaign, staging);
    plan.formats = tools.formats;
    plan.features = tools.features;
    plan.versions = {{"subject", tools.subject.version}, {"reference", tools.reference.version}};
    return plan;
}

// What is the matter with a case whose subject is the stand-in without a fault; empty if nothing.
std::string faultless_failure(const CaseReport& report) {
    switch (report.terminal) {
        case Terminal::agreed:
        case Terminal::refused_by_both:
        // The neutral looks of an old reference may fail, on both sides alike.
        case Terminal::harness_inspection:
            return {};
        case Terminal::diverged:
            // Both broke the model in the same way.
            return report.severity == to_string(Severity::reference) ? std::string() : report.type;
        default:
            return std::string(to_string(report.terminal)) +
                   (report.reason.empty() ? "" : ": " + report.reason);
    }
}

void run_faultless(WorkerPool& pool, const SelftestOptions& options, const Cases* cases,
                   SelftestResult& result) {
    std::deque<Task> tasks;
    std::vector<std::string> names;
    const auto add = [&](Case c, std::string name) {
        Task task;
        task.index = tasks.size();
        task.recipe = std::move(c);
        task.roles = {"canary", "reference"};
        task.runs = timeout_runs;
        task.second.again = Again::at_once;
        tasks.push_back(std::move(task));
        names.push_back(std::move(name));
    };
    for (const PlantedFault& fault : options.campaign.faults) {
        if (!fault.exhibit.empty()) {
            add(case_from_text(fault.exhibit), "the exhibit of '" + fault.name + "'");
        }
    }
    for (const Operation* operation : operations()) {
        for (std::uint64_t i = 0; cases != nullptr && i < faultless_cases_per_operation; ++i) {
            const std::string name(operation->name);
            add(cases->draw(name, i), "case " + std::to_string(i) + " of " + name);
        }
    }
    result.faultless_cases = tasks.size();
    for (const CaseReport& report : run_tasks(pool, std::move(tasks))) {
        if (const std::string failure = faultless_failure(report); !failure.empty()) {
            result.faultless_failures.push_back(names[report.index] +
                                                ", without a fault, ended as " + failure);
        }
    }
    std::ranges::sort(result.faultless_failures);
}

// info of a qcow2 image of `size` bytes.
Case info_case(std::uint64_t size) {
    Step step;
    step.operation = "info";
    step.command = "info";
    step.arguments = {{"", ImageValue{"src"}}};
    ImageRecipe image;
    image.id = "src";
    image.format = "qcow2";
    image.size = size;
    return {"info", {image}, {}, {step}};
}

void run_gates(const SelftestOptions& options, int staging, SelftestResult& result) {
    const std::string unstartable = options.scratch + "/unstartable";
    std::ofstream(unstartable).close();
    if (::chmod(unstartable.c_str(), 0755) != 0) {
        throw EnvironmentError("cannot make '" + unstartable + "'");
    }
    CampaignOptions campaign = options.campaign;
    campaign.limits.time = gate_time;
    campaign.limits.output_bytes = gate_output_bytes;
    WorkerSetup setup = worker_setup(campaign, default_plan());
    setup.sandbox.tools.push_back({"unstartable", unstartable});
    boost::asio::io_context context;
    WorkerPool pool(context, campaign.executable, staging, setup, campaign.jobs);

    constexpr std::uint64_t small = std::uint64_t{1} << 20;
    // Its tables would be larger than those of any image may be.
    constexpr std::uint64_t no_image = std::uint64_t{1} << 62;
    struct Gate {
        const char* name;
        Terminal expected;
        std::uint64_t size;
        RolePair roles;
    };
    const std::vector<Gate> gates{
        {"an image that cannot be built",
         Terminal::harness_fixture,
         no_image,
         {"canary", "reference"}},
        {"a program that cannot be started",
         Terminal::unavailable,
         small,
         {"unstartable", "reference"}},
        {"a command that never ends",
         Terminal::inconclusive_external_timeout,
         small,
         {"canary", "reference", "hang"}},
        {"both sides above a limit",
         Terminal::inconclusive_limited,
         small,
         {"canary", "canary", "flood"}},
    };
    std::deque<Task> tasks;
    for (const Gate& gate : gates) {
        Task task;
        task.index = tasks.size();
        task.recipe = info_case(gate.size);
        task.roles = gate.roles;
        tasks.push_back(std::move(task));
        result.gates.push_back({gate.name, gate.expected, Terminal::untested});
    }
    for (const CaseReport& report : run_tasks(pool, std::move(tasks))) {
        result.gates[report.index].seen = report.terminal;
    }
}

// The search for one fault: its cases one after the other until one decides.
struct Search {
    FaultRow row;
    std::uint64_t limit = 0;  // cases at most
    bool running = false;
    bool decided = false;
    bool planted = false;
    bool timed_out = false;
    unsigned deaths = 0;
};

class FaultRun {
public:
    FaultRun(WorkerPool& pool, const SelftestOptions& options, const Cases* cases,
             const std::function<void(const FaultRow&)>& decided)
        : pool_(pool), options_(options), cases_(cases), decided_(decided) {
        for (const PlantedFault& fault : options.campaign.faults) {
            Search search;
            search.row.fault = fault;
            search.limit = cases != nullptr ? fault.budget : fault.exhibit.empty() ? 0 : 1;
            searches_.push_back(std::move(search));
        }
    }

    std::vector<FaultRow> run() {
        WorkerPool::Handlers handlers;
        handlers.next = [this] { return next(); };
        handlers.done = [this](const Task& task, const CaseReport& report) { done(task, report); };
        handlers.lost = [this](const Task& task) { lost(task); };
        pool_.run(handlers);
        std::vector<FaultRow> rows;
        for (Search& search : searches_) {
            rows.push_back(std::move(search.row));
        }
        return rows;
    }

private:
    NextTask next() {
        bool waits = false;
        for (std::size_t i = 0; i < searches_.size(); ++i) {
            Search& search = searches_[i];
            waits |= search.running;
            if (search.decided || search.running) {
                continue;
            }
            if (search.row.cases == search.limit) {
                give_up(search);
                continue;
            }
            search.running = true;
            return task_for(i);
        }
        // A case that does not decide is followed by another one.
        return waits ? NextTask(WaitForOthers{}) : NextTask(NothingLeft{});
    }

    Case case_of(const Search& search) const {
        const PlantedFault& fault = search.row.fault;
        return cases_ != nullptr ? cases_->draw(fault.operation, search.row.cases)
                                 : case_from_text(fault.exhibit);
    }

    Task task_for(std::size_t i) const {
        const PlantedFault& fault = searches_[i].row.fault;
        Task task;
        task.index = i;
        task.recipe = case_of(searches_[i]);
        task.roles = {"canary", fault.both ? "canary" : "reference", fault.name};
        task.runs = timeout_runs;
        task.layers = true;
        task.second.again = Again::at_once;
        if (options_.without_own_layer) {
            task.without = fault.layer;
        }
        return task;
    }

    void done(const Task& task, const CaseReport& report) {
        Search& search = searches_[task.index];
        search.running = false;
        ++search.row.cases;
        const bool tells = tells_of(search.row.fault, report);
        search.planted |= tells;
        search.timed_out |= report.terminal == Terminal::inconclusive_external_timeout;
        if (tells && !report.diverged.empty()) {
            search.row.diverged = report.diverged;
            search.row.decisive = task.recipe;
            decide(search, report.diverged.front() == search.row.fault.layer
                               ? FaultResult::caught
                               : FaultResult::caught_late);
        } else if (search.row.cases == search.limit) {
            give_up(search);
        }
    }

    void lost(const Task& task) {
        Search& search = searches_[task.index];
        search.running = false;
        if (++search.deaths == 2) {
            decide(search, FaultResult::unfinished);
        }
    }

    void give_up(Search& search) {
        decide(search, search.planted     ? FaultResult::missed
                       : search.timed_out ? FaultResult::timeout
                                          : FaultResult::never_triggered);
    }

    void decide(Search& search, FaultResult result) {
        search.decided = true;
        search.row.result = result;
        if (decided_) {
            decided_(search.row);
        }
    }

    WorkerPool& pool_;
    const SelftestOptions& options_;
    const Cases* cases_;  // null: exhibits
    const std::function<void(const FaultRow&)>& decided_;
    std::vector<Search> searches_;
};

}  // namespace

std::string_view to_string(FaultResult result) {
    switch (result) {
        case FaultResult::caught:
            return "caught";
        case FaultResult::caught_late:
            return "caught late";
        case FaultResult::missed:
            return "missed";
        case FaultResult::never_triggered:
            return "never triggered";
        case FaultResult::timeout:
            return "timeout";
        case FaultResult::unfinished:
            return "unfinished";
    }
    return "unfinished";
}

bool SelftestResult::all_caught() const {
    return !rows.empty() && std::ranges::all_of(rows, [](const FaultRow& row) {
        return row.result == FaultResult::caught;
    }) && std::ranges::all_of(gates, &GateRow::holds);
}

bool SelftestResult::finished() const {
    return faultless_failures.empty() &&
           std::ranges::count(rows, FaultResult::unfinished, &FaultRow::result) == 0;
}

SelftestResult run_selftest(const SelftestOptions& options,
                            const std::function<void(const FaultRow&)>& decided) {
    SelftestResult result;
    const FileDescriptor staging(open_directory(options.scratch));
    std::optional<Cases> cases;
    if (!options.exhibits) {
        cases.emplace(options.campaign.seed, plan_of_reference(options, staging.get()));
    }
    boost::asio::io_context context;
    WorkerPool pool(context, options.campaign.executable, staging.get(),
                    worker_setup(options.campaign, default_plan()), options.campaign.jobs);
    run_faultless(pool, options, cases ? &*cases : nullptr, result);
    if (!result.faultless_failures.empty()) {
        return result;
    }
    if (options.gates) {
        run_gates(options, staging.get(), result);
    }
    result.rows = FaultRun(pool, options, cases ? &*cases : nullptr, decided).run();
    return result;
}

}  // namespace difffuzz

// Cases that a command was given, run on the tools that its flags name.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "apps/difffuzz/flags.hpp"
#include "campaign/campaign.hpp"
#include "campaign/workers/pool.hpp"

namespace difffuzz {

// Workers for the tools of `options`; they end with the object.
class CaseRunner {
public:
    // Throws UsageError or EnvironmentError.
    explicit CaseRunner(const CampaignOptions& options);
    ~CaseRunner();
    CaseRunner(const CaseRunner&) = delete;
    CaseRunner& operator=(const CaseRunner&) = delete;

    // One report for each task, in their order. Sets the tasks' indices. A case that ends its
    // worker twice is harness_killed.
    std::vector<CaseReport> run(std::deque<Task> tasks);

    WorkerPool& pool();

private:
    struct State;
    std::unique_ptr<State> state_;
};

// The tools and limits that the flags name, as commands on single cases take them.
CampaignOptions case_options(const Flags& flags);

// "agrees", "refused by both", "diverges: TYPE (SEVERITY) at step 2: …", "no verdict: …". One line,
// escaped and bounded.
std::string shown_verdict(const CaseReport& report);

// The layers that had something to compare.
std::vector<std::string> compared_layers(const CaseReport& report);

}  // namespace difffuzz

// Attribution on faults that are planted on one side: how often it decides, and how often rightly.
#include <iostream>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <unistd.h>

#include "apps/canary/fault.hpp"
#include "apps/difffuzz/scratch_directory.hpp"
#include "campaign/identify.hpp"
#include "campaign/run_tasks.hpp"
#include "campaign/triage/attribution/attribution.hpp"
#include "core/cases/recipe_json.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

struct Score {
    unsigned planted = 0;
    unsigned decided = 0;
    unsigned right = 0;
};

CampaignOptions options_with_canary() {
    CampaignOptions options;
    const std::string build = std::string(DIFFFUZZ_BINARY_DIR);
    options.executable = build + "/difffuzz";
    options.subject = "/usr/bin/qemu-img";
    options.reference = "/usr/bin/qemu-img";
    options.canary = build + "/../libexec/difffuzz/difffuzz-canary";
    if (::geteuid() == 0) {
        options.run_as = {true, 65534, 65534};
    }
    return options;
}

// The exhibits of all content faults, with the stand-in in the role `guilty`.
Score score(WorkerPool& pool, Blame guilty) {
    const bool as_subject = guilty == Blame::subject;
    std::deque<Task> tasks;
    std::vector<std::string> names;
    for (const canary::Fault& fault : canary::content_faults()) {
        if (fault.roles != canary::Roles::subject || canary::exhibit_of(fault.name).empty()) {
            continue;
        }
        Task task;
        task.index = names.size();
        task.recipe = case_from_text(std::string(canary::exhibit_of(fault.name)));
        task.roles = {as_subject ? "canary" : "subject", as_subject ? "reference" : "canary",
                      std::string(fault.name)};
        task.runs = 3;
        task.stage = std::string(to_string(guilty)) + "-" + std::to_string(task.index);
        tasks.push_back(std::move(task));
        names.emplace_back(fault.name);
    }
    Score score;
    for (const CaseReport& report : run_tasks(pool, std::move(tasks))) {
        if (report.terminal != Terminal::diverged || !report.planted) {
            std::cout << names[report.index] << ": " << to_string(report.terminal) << "\n";
            continue;
        }
        ++score.planted;
        const std::string side = report.attribution.at("side");
        const bool decided = side != "undecided" && side != "both legal";
        score.decided += decided ? 1U : 0U;
        score.right += side == to_string(guilty) ? 1U : 0U;
        if (side != to_string(guilty)) {
            std::cout << names[report.index] << ": " << report.attribution.dump() << "\n";
        }
    }
    std::cout << "planted in the " << to_string(guilty) << ": " << score.planted << ", decided "
              << score.decided << ", rightly " << score.right << "\n";
    return score;
}

// The stand-in also has the last bit wrong of whatever it reads out of an image.
TEST(AttributionOfPlantedFaults, TheOneThatReadsOtherwiseThanTwoOthersIsNamed) {
    const ScratchDirectory scratch;
    boost::asio::io_context context;
    const CampaignOptions options = options_with_canary();
    WorkerPool pool(context, options.executable, scratch.descriptor(),
                    worker_setup(options, default_plan()), 1);
    for (const Blame guilty : {Blame::subject, Blame::reference}) {
        const std::string side(to_string(guilty));
        Task task;
        task.recipe = case_from_text(std::string(canary::exhibit_of("convert-both-lose")));
        task.roles = guilty == Blame::subject ? RolePair{"canary", "reference", "convert-both-lose"}
                                              : RolePair{"subject", "canary", "convert-both-lose"};
        task.runs = 3;
        task.stage = side;
        const std::vector<CaseReport> reports = run_tasks(pool, {task});
        ASSERT_EQ(reports.at(0).terminal, Terminal::diverged);
        std::string said;
        for (const nlohmann::json& voice : reports[0].attribution.at("voices")) {
            said += voice.at("voice") == "readers" ? voice.at("says").get<std::string>() : "";
        }
        EXPECT_EQ(said, side) << reports[0].attribution;
    }
}

TEST(AttributionOfPlantedFaults, DecidesMostContentFaultsAndIsRightWhicheverSideIsWrong) {
    const ScratchDirectory scratch;
    boost::asio::io_context context;
    const CampaignOptions options = options_with_canary();
    WorkerPool pool(context, options.executable, scratch.descriptor(),
                    worker_setup(options, default_plan()), 2);
    for (const Blame guilty : {Blame::subject, Blame::reference}) {
        const Score found = score(pool, guilty);
        EXPECT_GE(found.planted, 10U);
        EXPECT_GE(found.decided * 100, found.planted * 80);
        EXPECT_GE(found.right * 100, found.decided * 95);
    }
}

}  // namespace
}  // namespace difffuzz

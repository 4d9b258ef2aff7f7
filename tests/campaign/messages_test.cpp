#include "campaign/workers/messages.hpp"

#include "campaign/planted_fault.hpp"

#include <gtest/gtest.h>

namespace difffuzz::test {
namespace {

TEST(Messages, ASetupArrivesAsItWasSent) {
    WorkerSetup setup;
    setup.plan = default_plan();
    setup.seed = 7;
    setup.reach = {{"convert",
                    {"-O", "-S"},
                    {"qcow2", "raw"},
                    {{"bitmaps", "qcow2"}},
                    {{"-o cluster_size", "qcow2"}}}};
    setup.stamps = {{"subject", {}}};
    const WorkerSetup got = setup_from_json(to_json(setup));
    EXPECT_EQ(got.plan, setup.plan);
    EXPECT_EQ(got.seed, setup.seed);
    ASSERT_EQ(got.reach.size(), 1U);
    EXPECT_EQ(got.reach[0].operation, "convert");
    EXPECT_EQ(got.reach[0].options, setup.reach[0].options);
    EXPECT_EQ(got.reach[0].formats, setup.reach[0].formats);
    EXPECT_EQ(got.reach[0].features, setup.reach[0].features);
    EXPECT_EQ(got.reach[0].creation, setup.reach[0].creation);
    EXPECT_EQ(to_json(got), to_json(setup));
}

TEST(Messages, AFaultAndWhatIsToldOfItArriveAsTheyWereSent) {
    Task task;
    task.roles = {"canary", "reference", "info-crash"};
    task.layers = true;
    task.without = LayerId::crash;
    const Task got = task_from_json(to_json(task));
    EXPECT_EQ(got.roles.subject, "canary");
    EXPECT_EQ(got.roles.fault, "info-crash");
    EXPECT_TRUE(got.layers);
    EXPECT_EQ(got.without, LayerId::crash);
    EXPECT_EQ(task_from_json(to_json(Task{})).without, std::nullopt);

    CaseReport report;
    report.diverged = {LayerId::json, LayerId::relations};
    report.planted = true;
    const CaseReport told = report_from_json(to_json(report));
    EXPECT_EQ(told.diverged, report.diverged);
    EXPECT_TRUE(told.planted);
    EXPECT_FALSE(report_from_json(to_json(CaseReport{})).planted);

    WorkerSetup setup;
    setup.plan = default_plan();
    setup.sandbox.tools = {{"reference", "/bin/true"}, {"canary", "/bin/false", "reference"}};
    EXPECT_EQ(setup_from_json(to_json(setup)).sandbox.tools[1].stands_in_for, "reference");
}

TEST(Messages, SecondRunsAndTheAccountOfNormalisersArriveAsTheyWereSent) {
    Task task;
    EXPECT_EQ(task_from_json(to_json(task)).second.again, Again::no);
    for (const Again again : {Again::at_once, Again::later_second}) {
        task.second = {again, {"info stdout"}};
        const Task got = task_from_json(to_json(task));
        EXPECT_EQ(got.second.again, again);
        EXPECT_EQ(got.second.reference_varies, task.second.reference_varies);
    }
    CaseReport report;
    report.normalisers = {{"disk_size", 2}, {"progress", 1}};
    EXPECT_EQ(report_from_json(to_json(report)).normalisers, report.normalisers);
}

// A divergence that the reference or the model is to blame for says nothing about the fault.
TEST(PlantedFault, IsToldOfOnlyWhereItWasPlantedAndMayBeTheCause) {
    PlantedFault fault;
    CaseReport report;
    report.terminal = Terminal::diverged;
    report.severity = "corruption";
    EXPECT_FALSE(tells_of(fault, report));
    report.planted = true;
    EXPECT_TRUE(tells_of(fault, report));
    report.severity = "reference";
    EXPECT_FALSE(tells_of(fault, report));
    fault.both = true;
    EXPECT_TRUE(tells_of(fault, report));
    report.terminal = Terminal::agreed;
    EXPECT_TRUE(tells_of(fault, report));
    report.terminal = Terminal::inconclusive_external_timeout;
    EXPECT_FALSE(tells_of(fault, report));
}

}  // namespace
}  // namespace difffuzz::test

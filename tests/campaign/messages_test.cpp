#include "campaign/workers/messages.hpp"

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

}  // namespace
}  // namespace difffuzz::test

#include "reporting/reports/reach_ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ops/reach.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

CampaignResult campaign(std::uint64_t iterations) {
    CampaignResult result;
    result.plan = default_plan();
    result.plan.operations = {{"info", 1}};
    result.seed = 5;
    result.iterations = iterations;
    return result;
}

CaseReport report_of(std::uint64_t index, CaseReach reach) {
    CaseReport report;
    report.index = index;
    report.operation = "info";
    report.intent = "valid";
    report.terminal = Terminal::agreed;
    report.compared = true;
    report.reach = std::move(reach);
    return report;
}

TEST(ReachLedger, ListsAllThatCouldBeDrawn) {
    CampaignResult result = campaign(2);
    result.tally.add(report_of(0, {{"--output", "-U"}, {"qcow2"}, {{"snapshots", "qcow2"}}}));
    const json ledger = reach_ledger(result);
    const json& info = ledger.at("operations").at("info");
    EXPECT_EQ(info.at("options").at("-U"), json({1, 1, 0}));
    EXPECT_EQ(info.at("options").at("-f"), json({0, 0, 0}));
    EXPECT_EQ(info.at("formats").at("qcow2"), json({1, 1, 0}));
    EXPECT_EQ(info.at("features").at("snapshots"), json({1, 1, 0}));
    EXPECT_EQ(info.at("pairs").at("--output").at("-U"), json({1, 1, 0}));
    EXPECT_EQ(info.at("pairs").at("-U").at("qcow2"), json({1, 1, 0}));
    EXPECT_EQ(info.at("pairs").at("-U").at("raw"), json({0, 0, 0}));
    EXPECT_EQ(info.at("pairs").at("snapshots").at("qcow2"), json({1, 1, 0}));
    EXPECT_EQ(ledger.at("pairs").at("declared"), reach_of(result.plan).pairs().size());
    EXPECT_EQ(ledger.at("pairs").at("drawn"), 4);
    EXPECT_EQ(ledger.at("pairs").at("compared"), 4);
    EXPECT_EQ(ledger.at("pairs").at("steered"), 1);
    EXPECT_EQ(ledger.at("singles").at("compared"), 4);
}

TEST(ReachLedger, ListsPairsThatSteeringDidNotReach) {
    CampaignResult result = campaign(2);
    const ReachPair pair = *reach_of(result.plan).pair_of(result.seed, 1);
    EXPECT_EQ(reach_ledger(result).at("not_reached"),
              json::array({json::array({"info", pair.first, pair.second})}));
    // Reached by whatever case.
    CaseReach reach;
    if (pair.kind == PairKind::feature_format) {
        reach.features = {{pair.first, pair.second}};
    } else if (pair.kind == PairKind::option_format) {
        reach = {{pair.first}, {pair.second}, {}};
    } else {
        reach.options = {pair.first, pair.second};
    }
    result.tally.add(report_of(0, reach));
    EXPECT_TRUE(reach_ledger(result).at("not_reached").empty());
}

TEST(ReachLedger, SaysInShortHowManyOfHowMany) {
    const json ledger{{"singles", {{"declared", 3}, {"drawn", 2}, {"compared", 2}}},
                      {"pairs", {{"declared", 2}, {"drawn", 1}, {"compared", 1}, {"steered", 1}}},
                      {"not_reached", json::array()},
                      {"operations",
                       {{"info",
                         {{"options", {{"-U", {1, 1, 0}}, {"-f", {1, 0, 1}}}},
                          {"formats", {{"raw", {1, 1, 0}}}},
                          {"features", json::object()},
                          {"pairs", {{"-U", {{"-f", {0, 0, 0}}, {"raw", {1, 1, 0}}}}}}}}}}};
    EXPECT_THAT(
        reach_lines(ledger),
        testing::ElementsAre(
            "reach: 1 of 2 pairs of options, formats and features compared, 1 drawn; summary.json "
            "has "
            "them all",
            "reach: 2 of 3 options, formats and features compared, 2 drawn; never compared:",
            "  info: -f"));
}

TEST(ReachLedger, TheListsAreBounded) {
    json ledger = reach_ledger(campaign(0));
    for (int i = 0; i < 40; ++i) {
        ledger["operations"]["copy" + std::to_string(i)] = ledger["operations"]["info"];
    }
    const std::vector<std::string> lines = reach_lines(ledger);
    EXPECT_LE(lines.size(), 23U);
    EXPECT_THAT(lines, Contains(HasSubstr("more: summary.json")));
    for (const std::string& line : lines) {
        EXPECT_LE(line.size(), 600U);
    }
}

}  // namespace
}  // namespace difffuzz

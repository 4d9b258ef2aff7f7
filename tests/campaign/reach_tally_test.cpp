#include "campaign/reach_tally.hpp"

#include <gtest/gtest.h>

#include "campaign/tally.hpp"

namespace difffuzz {
namespace {

CaseReach example() {
    return {{"-S", "-f"},
            {"qcow2", "raw"},
            {{"backing", "qcow2"}, {"odd-size", "qcow2"}, {"odd-size", "raw"}}};
}

TEST(ReachTally, CountsSinglesAndPairs) {
    ReachTally tally;
    tally.add(example(), {1, 1, 0});
    tally.add({{"-S"}, {"raw"}, {}}, {1, 0, 1});
    EXPECT_EQ(tally.of("-S"), (ReachCounts{2, 1, 1}));
    EXPECT_EQ(tally.of("-f"), (ReachCounts{1, 1, 0}));
    EXPECT_EQ(tally.of("raw"), (ReachCounts{2, 1, 1}));
    EXPECT_EQ(tally.of("-S", "-f"), (ReachCounts{1, 1, 0}));
    EXPECT_EQ(tally.of("-S", "raw"), (ReachCounts{2, 1, 1}));
    EXPECT_EQ(tally.of("odd-size"), (ReachCounts{1, 1, 0}));
    EXPECT_EQ(tally.of("odd-size", "raw"), (ReachCounts{1, 1, 0}));
    EXPECT_EQ(tally.of("backing", "raw"), ReachCounts{});
    EXPECT_EQ(tally.of("qcow2", "raw"), ReachCounts{});
    EXPECT_EQ(tally.of("-n"), ReachCounts{});
}

TEST(Tally, TellsWhatWasComparedFromWhatBothRefused) {
    CaseReport report;
    report.operation = "info";
    report.intent = "valid";
    report.reach = example();
    const auto counts = [&](Terminal terminal, bool compared) {
        Tally tally;
        report.terminal = terminal;
        report.compared = compared;
        tally.add(report);
        return tally.reach().at("info").of("-S");
    };
    EXPECT_EQ(counts(Terminal::agreed, true), (ReachCounts{1, 1, 0}));
    EXPECT_EQ(counts(Terminal::agreed, false), (ReachCounts{1, 0, 0}));
    EXPECT_EQ(counts(Terminal::diverged, true), (ReachCounts{1, 1, 0}));
    EXPECT_EQ(counts(Terminal::refused_by_both, true), (ReachCounts{1, 0, 1}));
    EXPECT_EQ(counts(Terminal::inconclusive_external_timeout, true), (ReachCounts{1, 0, 0}));
}

TEST(CaseReport, CarriesWhatTheCaseHolds) {
    CaseReport report;
    report.terminal = Terminal::agreed;
    report.reach = example();
    EXPECT_EQ(report_from_json(to_json(report)).reach, report.reach);
    report.reach = {};
    EXPECT_EQ(report_from_json(to_json(report)).reach, report.reach);
}

}  // namespace
}  // namespace difffuzz

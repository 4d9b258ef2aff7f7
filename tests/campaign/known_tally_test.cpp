// What known divergences took: counted, told, and no finding.
#include "campaign/known_tally.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/tally.hpp"

namespace difffuzz {
namespace {

CaseReport compared_case(std::uint64_t index, const std::string& operation, Terminal terminal) {
    CaseReport report;
    report.index = index;
    report.operation = operation;
    report.intent = "valid";
    report.terminal = terminal;
    report.compared = true;
    return report;
}

CaseReport divergence(std::uint64_t index, Classification known) {
    CaseReport report = compared_case(index, "info", Terminal::diverged);
    report.type = "info_json_divergence";
    report.severity = "disagreement";
    report.fingerprint = "0123456789abcdef";
    report.symptom = nlohmann::json::object();
    report.known = std::move(known);
    return report;
}

VerdictTerms terms(std::uint64_t iterations, std::string_view mode) {
    VerdictTerms result;
    result.iterations = iterations;
    result.known_mode = mode;
    return result;
}

TEST(KnownTally, WhatIsKnownIsNoFinding) {
    Tally tally;
    tally.add(divergence(0, {"entry", {}}));
    tally.add(divergence(1, {"entry", {}}));
    EXPECT_EQ(tally.new_buckets(), 0U);
    EXPECT_EQ(tally.buckets().size(), 1U);
    const Verdict clean = judge(tally, terms(2, known_steer));
    EXPECT_EQ(clean.exit, ExitCode::holds);
    EXPECT_THAT(clean.line, testing::HasSubstr("known divergences took 100.0 % of the cases"));
    EXPECT_THAT(clean.line, testing::Not(testing::HasSubstr("reference's own")));
    // The same symptom outside of the entry has a bucket of its own.
    tally.add(divergence(2, {"", {"entry"}}));
    EXPECT_EQ(tally.new_buckets(), 1U);
    EXPECT_EQ(tally.buckets().size(), 2U);
    EXPECT_EQ(judge(tally, terms(3, known_steer)).exit, ExitCode::does_not_hold);
    const KnownCounts& counts = tally.known().entries().at("entry");
    EXPECT_EQ(counts.classified.at("info"), 2U);
    EXPECT_EQ(counts.inside.at("info"), 1U);
}

TEST(KnownTally, TheVerdictSaysWhatWasNotConsidered) {
    Tally tally;
    tally.add(compared_case(0, "info", Terminal::agreed));
    EXPECT_THAT(judge(tally, terms(1, known_off)).line,
                testing::HasSubstr("known divergences not considered"));
    EXPECT_THAT(judge(tally, terms(1, known_enter)).line,
                testing::HasSubstr("known divergences not steered around"));
    EXPECT_THAT(judge(tally, terms(1, known_steer)).line,
                testing::Not(testing::HasSubstr("known")));
}

TEST(KnownTally, CountsDroppedDrawsOfExhaustedCasesToo) {
    KnownTally tally;
    CaseReport report;
    report.terminal = Terminal::exhausted;
    report.steered = {{"entry", "map"}, {"entry", "map"}, {"other", "info"}};
    tally.add(report);
    EXPECT_EQ(tally.entries().at("entry").steered.at("map"), 1U);
    EXPECT_EQ(tally.draws("map"), 1U);
    EXPECT_EQ(tally.cases(), 1U);
}

TEST(KnownTally, WarnsOfAnEntryThatTakesTooMuchWithoutAReason) {
    Registry registry;
    KnownDivergence narrow;
    narrow.id = "narrow";
    KnownDivergence wide = narrow;
    wide.id = "wide";
    wide.wide = "every case shows it";
    registry.entries = {narrow, wide};
    const auto warnings = [&](const std::string& entry, std::uint64_t taken, std::uint64_t cases) {
        KnownTally tally;
        for (std::uint64_t i = 0; i < cases; ++i) {
            CaseReport report = compared_case(i, "map", Terminal::agreed);
            if (i < taken) {
                report.steered = {{entry, "map"}};
            }
            tally.add(report);
        }
        return share_warnings(tally, registry);
    };
    EXPECT_THAT(warnings("narrow", 5, 200),
                testing::ElementsAre(testing::HasSubstr("'narrow' took 5 of 205 draws of map")));
    EXPECT_TRUE(warnings("narrow", 5, 300).empty());
    EXPECT_TRUE(warnings("narrow", 4, 100).empty());
    EXPECT_TRUE(warnings("wide", 100, 200).empty());
}

TEST(KnownTally, ReportsCarryWhatItCounts) {
    CaseReport report = divergence(7, {"entry", {"a", "b"}});
    report.steered = {{"entry", "map"}};
    report.culprit_step = 3;
    const CaseReport read = report_from_json(to_json(report));
    EXPECT_EQ(read.known, report.known);
    EXPECT_EQ(read.steered, report.steered);
    EXPECT_EQ(read.culprit_step, 3U);
    EXPECT_EQ(read.bucket_key(), "0123456789abcdef-entry");
}

}  // namespace
}  // namespace difffuzz

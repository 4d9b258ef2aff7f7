// The account of the normalisers, and what the verdict says of second runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/tally.hpp"

namespace difffuzz {
namespace {

using testing::HasSubstr;

CaseReport agreed(std::uint64_t index, std::map<std::string, std::uint64_t> normalisers,
                  bool run_again) {
    CaseReport report;
    report.index = index;
    report.operation = "info";
    report.intent = "valid";
    report.terminal = Terminal::agreed;
    report.compared = true;
    report.normalisers = std::move(normalisers);
    report.layers.push_back({"determinism",
                             run_again ? LayerVerdict::agree : LayerVerdict::not_applicable,
                             run_again ? "" : "not run again"});
    return report;
}

TEST(Account, CountsComparisonsAndCasesAndKeepsTheLowestIndex) {
    Tally tally;
    tally.add(agreed(0, {}, false));
    tally.add(agreed(1, {{"progress", 1}}, false));
    tally.add(agreed(2, {{"progress", 1}, {"disk_size", 3}}, false));
    ASSERT_EQ(tally.normalisers().size(), 2U);
    const NormaliserTally& progress = tally.normalisers().at("progress");
    EXPECT_EQ(progress.comparisons, 2U);
    EXPECT_EQ(progress.cases, 2U);
    EXPECT_EQ(progress.first, 1U);
    EXPECT_EQ(tally.normalisers().at("disk_size").comparisons, 3U);
    EXPECT_EQ(tally.normalisers().at("disk_size").first, 2U);
}

TEST(Account, TheVerdictSaysInHowManyCasesTheSubjectRanTwice) {
    Tally tally;
    for (std::uint64_t index = 0; index < 8; ++index) {
        tally.add(agreed(index, {}, index == 3));
    }
    VerdictTerms terms;
    terms.iterations = 8;
    terms.determinism = Determinism::sample;
    EXPECT_EQ(tally.run_again(), 1U);
    EXPECT_THAT(judge(tally, terms).line,
                HasSubstr("the subject ran twice in 12.5 % of the cases"));
    terms.determinism = Determinism::off;
    EXPECT_THAT(judge(tally, terms).line, HasSubstr("the subject's determinism not looked at"));
}

}  // namespace
}  // namespace difffuzz

// The verdict of a campaign with a baseline, from literals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/tally.hpp"

namespace difffuzz {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Ten cases that were compared, and a bucket for each status.
Verdict verdict_with(const std::vector<std::string>& statuses, bool baseline = true,
                     const std::string& severity = "disagreement") {
    Tally tally;
    for (std::uint64_t index = 0; index < 10; ++index) {
        CaseReport report;
        report.index = index;
        report.operation = "info";
        report.intent = "valid";
        report.terminal = Terminal::agreed;
        report.compared = true;
        tally.add(report);
    }
    std::map<std::string, Bucket> buckets;
    for (std::size_t i = 0; i < statuses.size(); ++i) {
        Bucket bucket;
        bucket.severity = severity;
        bucket.status = statuses[i];
        bucket.cases = 1;
        bucket.kept = {i};
        buckets[std::to_string(i)] = bucket;
    }
    tally.set_buckets(buckets);
    VerdictTerms terms;
    terms.iterations = 10;
    terms.baseline = baseline;
    terms.known_mode = known_steer;
    return judge(tally, terms);
}

TEST(BaselineVerdict, IsRedForRegressionsAlone) {
    const Verdict red = verdict_with({"regression", "pre-existing", "pre-existing"});
    EXPECT_EQ(red.exit, ExitCode::does_not_hold);
    EXPECT_THAT(red.line, StartsWith("1 bucket of regressions; 2 buckets of pre-existing "
                                     "divergences; 100.0 % compared"));
    const Verdict old = verdict_with({"pre-existing"});
    EXPECT_EQ(old.exit, ExitCode::holds);
    EXPECT_THAT(old.line, StartsWith("no regression; 1 bucket of pre-existing divergences"));
    const Verdict clean = verdict_with({});
    EXPECT_EQ(clean.exit, ExitCode::holds);
    EXPECT_THAT(clean.line, StartsWith("clean: no divergence"));
}

TEST(BaselineVerdict, WhatItGaveNoAnswerForIsNeitherRedNorGreen) {
    const Verdict open = verdict_with({"new", "pre-existing"});
    EXPECT_EQ(open.exit, ExitCode::no_verdict);
    EXPECT_THAT(open.line, HasSubstr("nothing tells whether the baseline shows"));
    EXPECT_THAT(open.line, HasSubstr("1 bucket of pre-existing divergences"));
    // It masks no regression.
    const Verdict red = verdict_with({"new", "regression"});
    EXPECT_EQ(red.exit, ExitCode::does_not_hold);
    EXPECT_FALSE(red.reasons.empty());
    // The reference's own faults are not asked about.
    EXPECT_EQ(verdict_with({"new"}, true, "reference").exit, ExitCode::holds);
}

TEST(BaselineVerdict, WithoutOneEveryNewBucketIsRed) {
    const Verdict verdict = verdict_with({"new"}, false);
    EXPECT_EQ(verdict.exit, ExitCode::does_not_hold);
    EXPECT_THAT(verdict.line, StartsWith("1 bucket of new divergences"));
    EXPECT_THAT(verdict.line, Not(HasSubstr("pre-existing")));
}

}  // namespace
}  // namespace difffuzz

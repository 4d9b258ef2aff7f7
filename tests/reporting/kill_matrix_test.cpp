#include "reporting/reports/kill_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace difffuzz::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

FaultRow row(const std::string& name, LayerId layer, FaultResult result,
             std::vector<LayerId> diverged) {
    FaultRow made;
    made.fault.name = name;
    made.fault.layer = layer;
    made.result = result;
    made.diverged = std::move(diverged);
    made.cases = 3;
    return made;
}

SelftestResult good() {
    SelftestResult result;
    result.faultless_cases = 5;
    result.gates = {{"a gate", Terminal::unavailable, Terminal::unavailable}};
    result.rows = {
        row("one", LayerId::header, FaultResult::caught, {LayerId::header, LayerId::text})};
    return result;
}

TEST(KillMatrix, ShowsWhichLayerWasFirstAndWhichFollowed) {
    const std::string text = selftest_text(good());
    EXPECT_THAT(text, HasSubstr("the stand-in without a fault: 5 cases agree\n"));
    EXPECT_THAT(text, HasSubstr("gate: a gate: unavailable\n"));
    EXPECT_THAT(text, HasSubstr(" cras exit code head erro json text inpu "));
    EXPECT_THAT(text, HasSubstr("one                       header      caught              3  "
                                ".    .    .    #    .    .    +    ."));
    EXPECT_THAT(text,
                EndsWith("selftest: all caught; 1 of 1 faults caught by their layer first\n"));
    EXPECT_EQ(selftest_json(good()).at("verdict"), "all caught");
}

TEST(KillMatrix, NamesSurvivorsAndGatesThatDoNotHold) {
    SelftestResult result = good();
    result.rows.push_back(row("two", LayerId::exit, FaultResult::missed, {}));
    result.rows.push_back(row("three", LayerId::text, FaultResult::caught_late, {LayerId::header}));
    result.gates.push_back({"other", Terminal::unavailable, Terminal::agreed});
    EXPECT_FALSE(result.all_caught());
    EXPECT_TRUE(result.finished());
    EXPECT_THAT(selftest_text(result),
                EndsWith("selftest: survivors; 1 of 3 faults caught by their layer first; not: two "
                         "(missed), three (caught late), other (agreed instead of unavailable)\n"));
    EXPECT_EQ(selftest_json(result).at("verdict"), "survivors");
}

TEST(KillMatrix, AGateAloneIsEnoughToFail) {
    SelftestResult result = good();
    result.gates[0].seen = Terminal::agreed;
    EXPECT_FALSE(result.all_caught());
}

TEST(KillMatrix, HasNoVerdictWhereItIsUnfinishedOrTheStandInIsNotTheTool) {
    SelftestResult result = good();
    result.rows.push_back(row("two", LayerId::exit, FaultResult::unfinished, {}));
    EXPECT_FALSE(result.finished());
    EXPECT_EQ(selftest_json(result).at("verdict"), "no verdict");
    SelftestResult other;
    other.faultless_failures = {"it differs"};
    EXPECT_FALSE(other.finished());
    EXPECT_THAT(selftest_text(other), HasSubstr("it differs\nselftest: no verdict; "));
}

TEST(KillMatrix, NothingAtAllIsNotAllCaught) { EXPECT_FALSE(SelftestResult{}.all_caught()); }

}  // namespace
}  // namespace difffuzz::test

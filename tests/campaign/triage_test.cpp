// Triage by literals: what a session asks for and makes of the answers, fingerprints, buckets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/triage/fingerprint.hpp"
#include "campaign/triage/triage.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// info of a qcow2 image with one option and one write that the symptom may need.
Case info_case() {
    Case c;
    c.operation = "info";
    c.images.push_back({"src",
                        "qcow2",
                        1 << 20,
                        {{"cluster_size", plain_size(65536)}},
                        {},
                        {{WriteKind::write, 4096, 4096, ByteFill{9}}}});
    c.steps.push_back({Actor::tool,
                       "info",
                       "info",
                       ValidIntent{},
                       {{"--output", WordValue{"json"}}, {"", ImageValue{"src"}}}});
    return c;
}

Symptom symptom_named(const std::string& field) {
    Symptom symptom;
    symptom.operation = "info";
    symptom.layer_name = "exit";
    symptom.field = field;
    return symptom;
}

CaseReport report_of(const Case& c, Terminal terminal, const std::string& field = "") {
    CaseReport report;
    report.operation = c.operation;
    report.intent = std::string(intent_name(c));
    report.terminal = terminal;
    if (terminal == Terminal::diverged) {
        report.symptom = to_json(symptom_named(field));
        report.severity = "disagreement";
        report.type = "info_exit_divergence";
    }
    return report;
}

TriageSession session_of(const Case& c) {
    return TriageSession({{c, 0}, symptom_key(symptom_named("class")), 7, "staged"}, 300);
}

// Runs the session; `symptom` says what a case shows (empty: both agree).
void drive(TriageSession& session, const std::function<std::string(const Case&)>& symptom) {
    while (!session.ended()) {
        const auto wanted = session.next(1);
        ASSERT_TRUE(wanted);
        EXPECT_TRUE(validate(*wanted->task.recipe).empty());
        const std::string field = symptom(*wanted->task.recipe);
        CaseReport report = report_of(*wanted->task.recipe,
                                      field.empty() ? Terminal::agreed : Terminal::diverged, field);
        report.staged = !wanted->task.stage.empty() && !field.empty();
        session.put(wanted->id, report);
    }
}

TEST(TriageSession, ConfirmsShrinksAndConfirmsWhatIsLeft) {
    TriageSession session = session_of(info_case());
    drive(session, [&](const Case& c) {
        return find_argument(c.steps[0], "--output") == nullptr ? "" : "class";
    });
    EXPECT_TRUE(session.confirmed());
    EXPECT_TRUE(session.staged());
    EXPECT_TRUE(session.minimal());
    EXPECT_EQ(session.confirmations().size(), 2 * confirming_runs);
    EXPECT_EQ(session.least().c.images[0].format, "raw");
    EXPECT_TRUE(session.least().c.images[0].content.empty());
    EXPECT_NE(find_argument(session.least().c.steps[0], "--output"), nullptr);
    const TriageResult result = result_of(session, "first", "");
    EXPECT_EQ(result.status, "new");
    EXPECT_THAT(result.features, Contains("info --output json"));
}

TEST(TriageSession, ConfirmingRunsAreAlone) {
    TriageSession session = session_of(info_case());
    for (std::size_t run = 0; run < confirming_runs; ++run) {
        const auto wanted = session.next(4);
        ASSERT_TRUE(wanted);
        EXPECT_TRUE(wanted->alone);
        EXPECT_FALSE(session.next(4)) << "one at a time";
        session.put(wanted->id, report_of(info_case(), Terminal::diverged, "class"));
    }
    const auto candidate = session.next(4);
    ASSERT_TRUE(candidate);
    EXPECT_FALSE(candidate->alone);
}

TEST(TriageSession, OneRunThatDoesNotShowItMakesItFlaky) {
    for (std::size_t bad = 0; bad < confirming_runs; ++bad) {
        TriageSession session = session_of(info_case());
        std::size_t run = 0;
        drive(session, [&](const Case&) { return run++ == bad ? "" : "class"; });
        EXPECT_FALSE(session.confirmed());
        const TriageResult result = result_of(session, "first", "");
        EXPECT_EQ(result.status, "flaky");
        nlohmann::json record{{"status", "untriaged"}, {"recipe", 1}};
        finish_record(record, session, result);
        EXPECT_EQ(record.at("status"), "flaky");
        EXPECT_EQ(record.at("recipe"), 1);
        EXPECT_EQ(record.at("confirmations").at(bad).at("outcome"), "agreed");
    }
}

TEST(TriageSession, AnotherSeverityStepOrAcceptanceIsNotTheSymptom) {
    const CaseReport seen = report_of(info_case(), Terminal::diverged, "class");
    const Target target = target_of(seen);
    EXPECT_EQ(judge_trial(target, 0, seen).end, TrialEnd::same);
    EXPECT_EQ(judge_trial(target, 1, seen).end, TrialEnd::other);
    CaseReport other = seen;
    other.severity = "reference";
    EXPECT_EQ(judge_trial(target, 0, other).end, TrialEnd::other);
    other = seen;
    other.reference_accepted = true;
    EXPECT_EQ(judge_trial(target, 0, other).end, TrialEnd::other);
    other = report_of(info_case(), Terminal::diverged, "another");
    EXPECT_EQ(judge_trial(target, 0, other).symptom_key, symptom_key(symptom_named("another")));
    EXPECT_EQ(judge_trial(target, 0, report_of(info_case(), Terminal::refused_by_both)).end,
              TrialEnd::agreed);
    EXPECT_EQ(judge_trial(target, 0, report_of(info_case(), Terminal::harness_fixture)).end,
              TrialEnd::other);
}

TEST(TriageSession, ALeastCaseThatComesAndGoesIsGivenUp) {
    TriageSession session = session_of(info_case());
    std::map<std::uint64_t, int> runs;  // by size
    drive(session, [&](const Case& c) {
        const bool small = c.images[0].content.empty();
        return small && ++runs[c.images[0].size] > 1 ? "" : "class";
    });
    EXPECT_TRUE(session.staged());
    EXPECT_FALSE(session.minimal());
    EXPECT_EQ(session.least().c, info_case());
}

TEST(TriageSession, IntentAndBrokenRuleStayOrBecomeValid) {
    Target target{nullptr, "disagreement", "damaged", "", false};
    Case c = info_case();
    c.steps[0].intent = DamagedIntent{};
    EXPECT_FALSE(may_stand_for(target, c)) << "nothing is damaged";
    c.images[0].damage.push_back({"header.version", 0, 7});
    EXPECT_TRUE(may_stand_for(target, c));
    Case sound = info_case();
    EXPECT_TRUE(may_stand_for(target, sound));
    sound.images[0].damage = c.images[0].damage;
    EXPECT_FALSE(may_stand_for(target, sound)) << "damaged, and says that it is valid";
    target.intent = "refused";
    EXPECT_TRUE(may_stand_for(target, info_case()));
    EXPECT_FALSE(may_stand_for(target, c));
    target.intent = "valid";
    EXPECT_FALSE(may_stand_for(target, c));
    EXPECT_TRUE(may_stand_for(target, info_case()));
    Case outside = info_case();
    outside.steps[0].arguments.clear();
    EXPECT_FALSE(may_stand_for(target, outside)) << "no image is named";
    outside.steps[0].intent = RefusedIntent{"no-file"};
    target.intent = "refused";
    target.rule = "no-file";
    EXPECT_TRUE(may_stand_for(target, outside));
    target.rule = "two-files";
    EXPECT_FALSE(may_stand_for(target, outside)) << "it breaks another rule";
}

TEST(Fingerprint, HasWordsAndNoNumbersOrNames) {
    Case c = info_case();
    const Symptom symptom = symptom_named("class");
    const std::string before = shrunk_fingerprint(c, symptom);
    c.images[0].size = 512;
    c.images[0].content[0].offset = 0;
    c.images[0].options[0].value = plain_size(4096);
    EXPECT_EQ(shrunk_fingerprint(c, symptom), before);
    c.images[0].options.clear();
    EXPECT_NE(shrunk_fingerprint(c, symptom), before);
    EXPECT_NE(shrunk_fingerprint(info_case(), symptom_named("other")), before);
    Case named = info_case();
    named.steps[0].arguments[0] = {"-c", WordValue{"q"}};
    EXPECT_THAT(case_features(named), Contains("info -c"));
    EXPECT_THAT(case_features(info_case()),
                ElementsAre("info", "info --output json", "intent valid", "qcow2 image",
                            "qcow2 image with cluster_size", "qcow2 image with data"));
    Case more = info_case();
    more.images[0].backing = "base";
    more.images[0].snapshots = {{"s", 0}};
    more.images[0].bitmaps = {{"b", 65536, true, {}}};
    more.images[0].content[0].kind = WriteKind::zero;
    more.images[0].damage = {{"header.version", 0, 7}};
    for (const char* feature : {"qcow2 image with a backing file", "qcow2 image with snapshots",
                                "qcow2 image with bitmaps", "qcow2 image with zeros",
                                "qcow2 image damaged at header.version"}) {
        EXPECT_THAT(case_features(more), Contains(feature));
    }
}

CaseReport diverged(std::uint64_t index, const std::string& fingerprint) {
    CaseReport report = report_of(info_case(), Terminal::diverged, "class");
    report.index = index;
    report.fingerprint = fingerprint;
    return report;
}

TriageResult triaged(std::uint64_t index, const std::string& first, const std::string& fingerprint,
                     const std::string& status = "new") {
    TriageResult result;
    result.iteration = index;
    result.first_fingerprint = first;
    result.fingerprint = fingerprint;
    result.status = status;
    return result;
}

TEST(BucketsAfterTriage, JoinWhatShrankToOneAndSplitWhatDidNot) {
    Tally tally;
    for (std::uint64_t index = 0; index < 5; ++index) {
        tally.add(diverged(index, "a"));
    }
    tally.add(diverged(5, "b"));
    tally.add(diverged(6, "c"));
    TriageResult slip = triaged(1, "", "slip");
    slip.slipped_from = "x";
    const auto buckets =
        buckets_after(tally, {triaged(0, "a", "x"), triaged(1, "a", "y"),
                              triaged(2, "a", "", "flaky"), triaged(5, "b", "x"), slip});
    ASSERT_EQ(buckets.size(), 5U);
    // Cases 3 and 4 have no record: they count with the first of their symptom.
    EXPECT_EQ(buckets.at("x").cases, 4U);
    EXPECT_THAT(buckets.at("x").kept, ElementsAre(0U, 5U));
    EXPECT_EQ(buckets.at("x").status, "new");
    EXPECT_EQ(buckets.at("y").cases, 1U);
    EXPECT_EQ(buckets.at("a").status, "flaky");
    EXPECT_THAT(buckets.at("a").kept, ElementsAre(2U));
    EXPECT_EQ(buckets.at("c").status, "untriaged");
    EXPECT_EQ(buckets.at("slip").slipped_from, "x");
}

TEST(Slips, ThatWereNotFollowedAreCounted) {
    const Case c = info_case();
    const auto key = [](const char* field) { return symptom_key(symptom_named(field)); };
    CaseReport seen = report_of(c, Terminal::diverged, "seen");
    seen.fingerprint = "f";
    Tally tally;
    tally.add(seen);
    TriageResult first;
    first.symptom_key = key("seen");
    first.slips = {{{c, 0}, key("followed")}, {{c, 0}, key("left")}, {{c, 0}, key("seen")}};
    TriageResult second;
    second.symptom_key = key("followed");
    second.slips = {{{c, 0}, key("left")}, {{c, 0}, key("left too")}};
    EXPECT_EQ(slips_left_out(tally, {first, second}), 2U);
    EXPECT_EQ(slips_left_out(tally, {}), 0U);
}

TEST(Verdict, FlakyDivergencesAreNoneAndGiveNoVerdict) {
    Tally tally;
    tally.add(diverged(0, "a"));
    VerdictTerms terms;
    terms.iterations = 1;
    terms.min_compared = 0;
    EXPECT_EQ(judge(tally, terms).exit, ExitCode::does_not_hold);
    tally.set_buckets(buckets_after(tally, {triaged(0, "a", "", "flaky")}));
    const Verdict verdict = judge(tally, terms);
    EXPECT_EQ(verdict.exit, ExitCode::no_verdict);
    EXPECT_THAT(verdict.line, testing::HasSubstr("flaky"));
}

}  // namespace
}  // namespace difffuzz

// Memory across campaigns: facts of summaries, the database, and what a summary says of them.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "reporting/seen/comparison.hpp"
#include "reporting/seen/dates.hpp"
#include "reporting/seen/evidence_memory.hpp"
#include "reporting/seen/memory_database.hpp"
#include "support/run_tool.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

json bucket(const std::string& fingerprint, const std::string& status = "new") {
    return {{"type", "info_exit_divergence"},
            {"fingerprint", fingerprint},
            {"status", status},
            {"severity", "disagreement"},
            {"symptom", {{"operation", "info"}}}};
}

json summary_with(std::uint64_t seed, std::vector<json> buckets) {
    return {{"seed", seed},
            {"iterations", 100},
            {"plan", "p"},
            {"subject", {{"identity", "s" + std::to_string(seed)}, {"version", "1"}}},
            {"reference", {{"identity", "r"}, {"version", "7.2"}}},
            {"operations", {{"info", 0}}},
            {"buckets", buckets},
            {"reach",
             {{"operations",
               {{"info", {{"pairs", {{"-f", {{"raw", {3, 2, 0}}, {"qcow2", {3, 0, 1}}}}}}}}}}}},
            {"known", {{"entries", {{"old-versions", 0}}}}}};
}

std::vector<std::string> keys(const json& list) {
    std::vector<std::string> result;
    for (const json& one : list) {
        result.push_back(one.at("key"));
    }
    return result;
}

Memory memory_of(const json& summary, const std::string& date) {
    Memory memory;
    memory.add(campaign_key(summary), facts_of(summary), date);
    return memory;
}

TEST(Seen, FactsAreWhatWasFoundAndCompared) {
    std::vector<std::string> facts;
    for (const Fact& fact :
         facts_of(summary_with(1, {bucket("a"), bucket("b", "flaky"), bucket("c", "known(x)")}))) {
        facts.push_back(fact.kind + " " + fact.key);
    }
    EXPECT_THAT(facts, ElementsAre("bucket info_exit_divergence-a", "entry old-versions",
                                   "pair info: -f, raw", "tool r", "tool s1"));
}

TEST(Seen, TellsNewSeenAndGone) {
    const Memory memory =
        memory_of(summary_with(1, {bucket("both"), bucket("only")}), "2024-02-29");
    const json seen = seen_json(memory, summary_with(2, {bucket("both"), bucket("fresh")}));
    EXPECT_EQ(seen.at("campaigns"), 1);
    const json& buckets = seen.at("buckets");
    EXPECT_THAT(keys(buckets.at("new")), ElementsAre("info_exit_divergence-fresh"));
    EXPECT_THAT(keys(buckets.at("before")), ElementsAre("info_exit_divergence-both"));
    EXPECT_THAT(keys(buckets.at("gone")), ElementsAre("info_exit_divergence-only"));
    EXPECT_EQ(buckets.at("gone")[0].at("last"), "2024-02-29");
    EXPECT_EQ(seen.at("pairs").at("before"), 1);
    EXPECT_EQ(seen.at("pairs").at("added"), 0);
    EXPECT_THAT(seen.at("tools").at("added"), ElementsAre("subject 1 s2"));
    EXPECT_THAT(seen_lines(seen), Contains(HasSubstr("1 buckets before, 1 new, 1 gone since")));

    // Of an operation that this campaign did not have nothing is gone.
    json other = summary_with(3, {});
    other["operations"] = {{"map", 0}};
    EXPECT_THAT(seen_json(memory, other).at("buckets").at("gone"), IsEmpty());
}

TEST(Seen, OneCampaignCountsOnceAndDatesSpanAll) {
    const json summary = summary_with(1, {bucket("a")});
    Memory memory = memory_of(summary, "2024-05-01");
    memory.add(campaign_key(summary), facts_of(summary), "2024-05-03");
    const Remembered* known = memory.find(facts_of(summary).front());
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->campaigns, 1U);
    EXPECT_EQ(known->first, "2024-05-01");
    EXPECT_EQ(known->last, "2024-05-03");
    const json later = summary_with(2, {bucket("a")});
    memory.add(campaign_key(later), facts_of(later), "2024-04-30");
    EXPECT_EQ(known->campaigns, 2U);
    EXPECT_EQ(known->first, "2024-04-30");
}

TEST(Seen, TheDatabaseGivesBackWhatWasPut) {
    const test::ScratchDirectory scratch;
    const std::string path = scratch.path() / "seen.db";
    const json first = summary_with(1, {bucket("a")});
    const json second = summary_with(2, {bucket("a"), bucket("b")});
    {
        MemoryDatabase one(path);
        MemoryDatabase other(path);  // beside it
        one.add(campaign_key(first), facts_of(first), "2024-05-01");
        other.add(campaign_key(second), facts_of(second), "2024-05-02");
    }
    Memory stored;
    MemoryDatabase(path).load_into(stored);
    Memory expected = memory_of(first, "2024-05-01");
    expected.add(campaign_key(second), facts_of(second), "2024-05-02");
    EXPECT_EQ(stored.campaigns(), expected.campaigns());
    ASSERT_EQ(stored.facts().size(), expected.facts().size());
    for (const auto& [key, remembered] : expected.facts()) {
        const Remembered& there = stored.facts().at(key);
        EXPECT_EQ(there.fact.words, remembered.fact.words);
        EXPECT_EQ(there.fact.operation, remembered.fact.operation);
        EXPECT_EQ(there.first, remembered.first);
        EXPECT_EQ(there.last, remembered.last);
        EXPECT_EQ(there.campaigns, remembered.campaigns);
    }
}

TEST(Seen, WhatIsNoDatabaseOfOursIsNotTouched) {
    const test::ScratchDirectory scratch;
    const std::string text = scratch.path() / "text";
    std::ofstream(text) << std::string(4096, 'x');
    EXPECT_THAT([&] { MemoryDatabase database(text); },
                ThrowsMessage<UsageError>(HasSubstr("is no database")));
    EXPECT_EQ(test::read_file(text), std::string(4096, 'x'));
    const std::string none = scratch.path() / "no" / "seen.db";
    EXPECT_THAT([&] { MemoryDatabase database(none); },
                ThrowsMessage<EnvironmentError>(HasSubstr("cannot open '" + none)));
    const std::string foreign = scratch.path() / "foreign.db";
    ASSERT_EQ(test::run_tool(scratch.path(), {"/usr/bin/python3", "-c",
                                              "import sqlite3;c=sqlite3.connect('foreign.db');"
                                              "c.execute('create table t(x)');c.commit()"})
                  .ending,
              Ending(Exited{0}));
    EXPECT_THAT([&] { MemoryDatabase database(foreign); },
                ThrowsMessage<UsageError>(HasSubstr("none of this difffuzz's")));
}

TEST(Seen, EvidenceBelowADirectoryIsReadButForTheCampaignsOwn) {
    const test::ScratchDirectory scratch;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const fs::path evidence = scratch.path() / std::to_string(seed);
        fs::create_directory(evidence);
        std::ofstream(evidence / "campaign.json") << "{}";
        if (seed < 3) {  // the third did not end
            std::ofstream(evidence / "summary.json")
                << summary_with(seed, {bucket(std::to_string(seed))});
        }
    }
    Memory memory;
    remember_evidence(scratch.path(), fs::canonical(scratch.path() / "2"), memory);
    EXPECT_THAT(memory.campaigns(), ElementsAre(campaign_key(summary_with(1, {}))));

    EXPECT_THAT([&] { remember_evidence(scratch.path() / "none", "", memory); },
                ThrowsMessage<UsageError>(HasSubstr("cannot look into")));
    fs::create_directory(scratch.path() / "empty");
    EXPECT_THAT([&] { remember_evidence(scratch.path() / "empty", "", memory); },
                ThrowsMessage<UsageError>(HasSubstr("holds a campaign")));
    std::ofstream(scratch.path() / "1" / "summary.json") << "{}";
    EXPECT_THAT([&] { remember_evidence(scratch.path() / "1", "", memory); },
                ThrowsMessage<UsageError>(HasSubstr("is not a summary")));
}

TEST(Seen, DaysAreThoseOfUtc) {
    using std::chrono::seconds;
    EXPECT_EQ(date_of(std::chrono::system_clock::time_point(seconds(1'709'251'199))), "2024-02-29");
    EXPECT_EQ(date_of(std::chrono::system_clock::time_point(seconds(1'709'251'200))), "2024-03-01");
}

}  // namespace
}  // namespace difffuzz

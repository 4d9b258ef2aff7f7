// Shards on real tools, merged, against one campaign on one machine.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr int cases = 28;

std::vector<std::string> tools() {
    return {"--subject", "/usr/bin/qemu-img", "--reference", second_qemu()};
}

// Operations on which the two versions differ often; whoever knows it.
std::vector<std::string> words_of_shard(const std::string& out, std::vector<std::string> more,
                                        const std::string& triage_runs = "12") {
    std::vector<std::string> words{"--seed",  "42",         "--iterations",  std::to_string(cases),
                                   "--ops",   "info=2,map", "--triage-runs", triage_runs,
                                   "--known", "off",        "--out",         out};
    for (const std::string& word : tools()) {
        words.push_back(word);
    }
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::vector<std::string> run_shards(const ScratchDirectory& scratch, int count) {
    std::vector<std::string> directories;
    for (int i = 1; i <= count; ++i) {
        const std::string shard = std::to_string(i) + "/" + std::to_string(count);
        directories.push_back("shard-" + std::to_string(i) + "-of-" + std::to_string(count));
        const Ended ended =
            difffuzz(scratch, words_of_shard(directories.back(), {"--shard", shard}));
        EXPECT_THAT(ended.code, testing::AnyOf(0, 1, 4)) << ended.err;
    }
    return directories;
}

Ended merge(const ScratchDirectory& scratch, const std::string& out,
            const std::vector<std::string>& shards) {
    std::vector<std::string> words{"merge", out};
    words.insert(words.end(), shards.begin(), shards.end());
    return difffuzz(scratch, words);
}

// All but times.
nlohmann::json lasting(nlohmann::json summary) {
    summary.erase("figures");
    return summary;
}

void expect_same_campaign(const ScratchDirectory& scratch, const std::string& one,
                          const std::string& other) {
    EXPECT_EQ(lasting(summary_of(scratch, one)), lasting(summary_of(scratch, other)));
    const std::string set = difffuzz(scratch, {"report", one, "--canonical"}).out;
    EXPECT_GE(lines(set), 4U);
    EXPECT_EQ(set, difffuzz(scratch, {"report", other, "--canonical"}).out);
}

std::size_t commits(const fs::path& journal) {
    std::ifstream file(journal);
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) {
        count += line.find("\"committed\"") != std::string::npos ? 1U : 0U;
    }
    return count;
}

// Starts a campaign and kills it once some of its cases are committed.
void kill_on_the_way(const ScratchDirectory& scratch, const std::string& out,
                     std::vector<std::string> words) {
    words.insert(words.begin(), std::string(DIFFFUZZ_BINARY_DIR) + "/difffuzz");
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    const fs::path back = fs::current_path();
    fs::current_path(scratch.path());
    pid_t child = -1;
    ASSERT_EQ(::posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ), 0);
    fs::current_path(back);
    const fs::path journal = scratch.path() / out / "journal.ndjson";
    while (commits(journal) < 2 && ::waitpid(child, nullptr, WNOHANG) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

TEST(Merge, ThreeShardsOneOfThemKilledAndResumedAreTheSingleRun) {
    const ScratchDirectory scratch;
    ASSERT_EQ(difffuzz(scratch, words_of_shard("single", {})).code, 1);
    std::vector<std::string> shards = run_shards(scratch, 3);
    kill_on_the_way(scratch, "killed", words_of_shard("killed", {"--shard", "2/3"}));
    shards[1] = "killed";

    // Unfinished: what there is, and no verdict.
    const Ended early = merge(scratch, "early", shards);
    EXPECT_EQ(early.code, 4) << early.out << early.err;
    EXPECT_THAT(early.out, HasSubstr("no verdict: incomplete: shard 2/3 is unfinished; continue "
                                     "it with 'difffuzz run --resume --out killed'"));
    const nlohmann::json books = summary_of(scratch, "early").at("books");
    EXPECT_GT(books.at("untested"), 0);
    EXPECT_GE(cases - books.at("untested").get<int>(), cases * 2 / 3);

    std::vector<std::string> resume{"run", "--resume", "--out", "killed"};
    for (const std::string& word : tools()) {
        resume.push_back(word);
    }
    EXPECT_THAT(difffuzz(scratch, resume).code, testing::AnyOf(0, 1, 4));
    const Ended whole = merge(scratch, "whole", {shards[2], shards[0], shards[1]});
    EXPECT_EQ(whole.code, 1) << whole.out << whole.err;
    expect_same_campaign(scratch, "single", "whole");
    const auto campaign_json =
        nlohmann::json::parse(read_file(scratch.path() / "whole/campaign.json"));
    EXPECT_EQ(campaign_json.at("state"), "complete");
    EXPECT_EQ(campaign_json.at("shards").size(), 3U);

    // Missing, given twice, of another campaign, not a new directory.
    const Ended missing = merge(scratch, "missing", {shards[0], shards[2]});
    EXPECT_EQ(missing.code, 4);
    EXPECT_THAT(missing.out, HasSubstr("incomplete: shard 2/3 is missing"));
    EXPECT_EQ(difffuzz(scratch, {"report", "missing"}).code, 4);
    fs::create_directory(scratch.path() / "nothing");
    const Ended empty = merge(scratch, "empty", {shards[0], shards[2], "nothing"});
    EXPECT_EQ(empty.code, 4);
    EXPECT_THAT(empty.out, HasSubstr("'nothing' is empty"));
    const Ended twice = merge(scratch, "twice", {shards[0], shards[1], shards[2], shards[1]});
    EXPECT_EQ(twice.code, 2);
    EXPECT_THAT(twice.err, HasSubstr("shard 2/3 is given twice: 'killed' and 'killed'"));
    const Ended other = merge(scratch, "other", {shards[0], "single"});
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("the number of shards is"));
    EXPECT_THAT(merge(scratch, "whole", shards).err, HasSubstr("holds a campaign already"));
    // What stands in a shard's campaign.json and makes it one that cannot be merged.
    const fs::path told = scratch.path() / shards[2] / "campaign.json";
    const auto untouched = nlohmann::json::parse(read_file(told));
    const std::vector<std::pair<nlohmann::json, std::string>> edits{
        {{{"terms", {{"seed", 43}}}}, "--seed is 42 in the first and 43 in the second"},
        {{{"terms", {{"triage_runs", 13}}}}, "--triage-runs is 12 in the first"},
        {{{"limits", {{"time_ms", 1}}}}, "the set of limits is"},
        {{{"thresholds", {{"min_compared", 1}}}}, "the set of thresholds is"},
        {{{"subject", {{"identity", std::string(64, '0')}}}}, "--subject is"},
        {{{"terms", {{"baseline", std::string(64, '0')}}}}, "was held against a baseline"},
        {{{"terms", {{"iterations", std::uint64_t{1} << 40}}}}, "was bounded by --duration alone"},
    };
    for (const auto& [edit, sentence] : edits) {
        nlohmann::json edited = untouched;
        edited.merge_patch(edit);
        std::ofstream(told) << edited;
        const Ended refused = merge(scratch, "refused", shards);
        EXPECT_EQ(refused.code, 2) << edit;
        EXPECT_THAT(refused.err, HasSubstr(sentence)) << edit;
        EXPECT_FALSE(fs::exists(scratch.path() / "refused"));
    }
    EXPECT_FALSE(fs::exists(scratch.path() / "twice"));
}

TEST(Merge, OneAndSevenShardsAreTheSingleRun) {
    const ScratchDirectory scratch;
    ASSERT_EQ(difffuzz(scratch, words_of_shard("single", {}, "0")).code, 1);
    for (const int count : {1, 7}) {
        std::vector<std::string> shards;
        for (int i = 1; i <= count; ++i) {
            const std::string shard = std::to_string(i) + "/" + std::to_string(count);
            shards.push_back("shard" + std::to_string(i) + "of" + std::to_string(count));
            difffuzz(scratch, words_of_shard(shards.back(), {"--shard", shard}, "0"));
        }
        const std::string out = "whole" + std::to_string(count);
        const Ended whole = merge(scratch, out, shards);
        EXPECT_EQ(whole.code, 1) << whole.out << whole.err;
        expect_same_campaign(scratch, "single", out);
    }
}

}  // namespace
}  // namespace difffuzz::test

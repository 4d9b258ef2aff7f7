// Triage in whole campaigns and by hand: on real tools and on a tool that misbehaves.
#include <algorithm>
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

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

// A tool that dies of --backing-chain, named as it is to behave.
fs::path bad_tool(const ScratchDirectory& scratch, const std::string& mode) {
    const fs::path tool = scratch.path() / ("bad_tool-" + mode);
    fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", tool);
    return tool;
}

std::vector<std::string> words_for(const fs::path& tool, const std::string& out,
                                   std::vector<std::string> more = {}) {
    std::vector<std::string> words{
        "--seed", "5",           "--iterations",      "40",    "--ops", "info", "--subject",
        tool,     "--reference", "/usr/bin/qemu-img", "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::vector<fs::path> records_of(const fs::path& evidence) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(evidence / "records")) {
        if (entry.path().filename() == "record.json") {
            paths.push_back(entry.path());
        }
    }
    std::ranges::sort(paths);
    return paths;
}

TEST(Triage, OneCauseIsOneBucketOfMinimalCases) {
    const ScratchDirectory scratch;
    const fs::path tool = bad_tool(scratch, "crash");
    const Ended ended = difffuzz(scratch, words_for(tool, "out"));
    ASSERT_EQ(ended.code, 1) << ended.out << ended.err;
    const json buckets = summary_of(scratch, "out").at("buckets");
    // Many formats, one cause; valid and refused cases are told apart.
    std::size_t valid = 0;
    for (const json& bucket : buckets) {
        EXPECT_EQ(bucket.at("status"), "new");
        const auto features = bucket.at("features").get<std::vector<std::string>>();
        EXPECT_THAT(features, testing::Contains("info --backing-chain"));
        valid += std::ranges::count(features, "intent valid") > 0 ? 1U : 0U;
    }
    EXPECT_EQ(valid, 1U) << buckets;
    for (const fs::path& path : records_of(scratch.path() / "out")) {
        const json record = json::parse(read_file(path));
        EXPECT_EQ(record.at("confirmations").size(), 6U);
        EXPECT_TRUE(record.at("shrinking").at("minimal").get<bool>()) << path;
        const json& steps = record.at("recipe").at("steps");
        ASSERT_EQ(steps.size(), 1U);
        if (steps[0].at("intent") == "valid") {
            EXPECT_EQ(record.at("argv").at("subject")[0],
                      json({"qemu-img", "info", "--backing-chain", "src.raw"}));
        }
        EXPECT_EQ(difffuzz(scratch,
                           {"repro", path, "--subject", tool, "--reference", "/usr/bin/qemu-img"})
                      .code,
                  0)
            << path;
        if (record.contains("slipped_from")) {
            continue;  // no drawn case shows it
        }
        EXPECT_EQ(difffuzz(scratch, {"repro", path.parent_path() / "original/first_seen.json",
                                     "--subject", tool, "--reference", "/usr/bin/qemu-img"})
                      .code,
                  0)
            << path;
    }
}

TEST(Triage, WordsThatDifferWithEveryCaseMakeFewBuckets) {
    const ScratchDirectory scratch;
    const fs::path tool = bad_tool(scratch, "wordy");
    std::vector<std::string> words = words_for(tool, "out", {"--max-new", "1"});
    words[1] = "9";  // a case that slips often
    const Ended ended = difffuzz(scratch, words);
    ASSERT_EQ(ended.code, 1) << ended.out << ended.err;
    const json summary = summary_of(scratch, "out");
    // One divergence, what its case slips to, and no more.
    EXPECT_LE(summary.at("buckets").size(), 5U);
    EXPECT_GT(summary.at("slips_left_out"), 0);
    EXPECT_THAT(ended.out, HasSubstr("met while shrinking and not followed: "));
}

TEST(Triage, ASubjectThatDiesOfEveryCommandMakesAHandfulOfBuckets) {
    const ScratchDirectory scratch;
    const fs::path tool = bad_tool(scratch, "dead");
    const Ended ended =
        difffuzz(scratch, {"--seed", "5", "--iterations", "40", "--ops", "info,create", "--subject",
                           tool, "--reference", "/usr/bin/qemu-img", "--out", "out"});
    ASSERT_EQ(ended.code, 1) << ended.out << ended.err;
    const json buckets = summary_of(scratch, "out").at("buckets");
    EXPECT_GE(buckets.size(), 2U);
    EXPECT_LE(buckets.size(), 8U) << ended.out;
}

TEST(Triage, RecordsOfASanitizedSubjectAreTheSameInEachRun) {
    const ScratchDirectory scratch;
    const fs::path tool = fs::path(DIFFFUZZ_BINARY_DIR) / "heap_asan";
    const auto records = [&](const std::string& out) {
        const Ended ended = difffuzz(
            scratch, {"--seed", "5", "--iterations", "4", "--ops", "check", "--no-triage",
                      "--subject", tool, "--reference", "/usr/bin/qemu-img", "--out", out});
        EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
        return difffuzz(scratch, {"report", out, "--canonical"}).out;
    };
    const std::string first = records("one");
    EXPECT_THAT(first, AllOf(HasSubstr("heap-buffer-overflow"), HasSubstr("==<pid>==ERROR")));
    EXPECT_EQ(first, records("two"));
}

TEST(Triage, WithoutItRecordsStayAsTheyWereSeenAndTheVerdictSaysSo) {
    const ScratchDirectory scratch;
    const fs::path tool = bad_tool(scratch, "crash");
    const Ended ended = difffuzz(scratch, words_for(tool, "out", {"--no-triage"}));
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("; none confirmed and shrunk"));
    for (const fs::path& path : records_of(scratch.path() / "out")) {
        const json record = json::parse(read_file(path));
        EXPECT_EQ(record.at("status"), "untriaged");
        EXPECT_TRUE(record.at("original_recipe").is_null());
    }
    // A budget of runs that is another is another campaign.
    EXPECT_EQ(difffuzz(scratch, {"--resume", "--out", "out", "--subject", tool, "--reference",
                                 "/usr/bin/qemu-img", "--triage-runs", "5"})
                  .code,
              2);
}

TEST(Triage, EndsTheSameForAnyJobsAndAfterKills) {
    const ScratchDirectory scratch;
    const fs::path tool = bad_tool(scratch, "crash");
    ASSERT_EQ(difffuzz(scratch, words_for(tool, "one", {"--jobs", "1"})).code, 1);
    ASSERT_EQ(difffuzz(scratch, words_for(tool, "three", {"--jobs", "3"})).code, 1);
    const std::string one = difffuzz(scratch, {"report", "one", "--canonical"}).out;
    EXPECT_THAT(one, HasSubstr("\"shrinking\""));
    EXPECT_EQ(one, difffuzz(scratch, {"report", "three", "--canonical"}).out);

    // Killed in its triage: after its first result, then right after the second.
    std::vector<std::string> words = words_for(tool, "killed", {"--jobs", "2"});
    for (std::size_t results = 1; results <= 2; ++results) {
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
        const auto triaged = [&] {
            std::ifstream file(scratch.path() / "killed" / "journal.ndjson");
            std::size_t count = 0;
            for (std::string line; std::getline(file, line);) {
                count += line.starts_with("{\"triaged\"") ? 1U : 0U;
            }
            return count;
        };
        while (triaged() < results && ::waitpid(child, nullptr, WNOHANG) == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        EXPECT_EQ(difffuzz(scratch, {"report", "killed"}).code, 4);
        words = {"run",       "--resume", "--out",       "killed",
                 "--subject", tool,       "--reference", "/usr/bin/qemu-img"};
    }
    ASSERT_EQ(difffuzz(scratch, words).code, 1);
    EXPECT_EQ(one, difffuzz(scratch, {"report", "killed", "--canonical"}).out);
}

TEST(Triage, WhatComesAndGoesIsFlakyAndGivesNoVerdict) {
    const ScratchDirectory scratch;
    const fs::path tool = bad_tool(scratch, "moody");
    const Ended ended = difffuzz(scratch, words_for(tool, "out", {"--jobs", "1"}));
    EXPECT_EQ(ended.code, 4) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("flaky"));
    const std::vector<fs::path> records = records_of(scratch.path() / "out");
    ASSERT_FALSE(records.empty());
    for (const fs::path& path : records) {
        const json record = json::parse(read_file(path));
        EXPECT_EQ(record.at("status"), "flaky");
        EXPECT_EQ(record.at("confirmations").size(), 3U);
        EXPECT_TRUE(fs::exists(path.parent_path() / "raw/subject-step0.stdout"));
    }
    const std::string source = DIFFFUZZ_SOURCE_DIR;
    const Outcome schemas = run_tool(
        scratch.path(), {source + "/tests/scripts/validate_evidence.py", source + "/docs", "out"});
    EXPECT_EQ(schemas.ending, Ending{Exited{0}}) << schemas.out.head << schemas.err.head;
}

TEST(Shrink, MakesALeastRecordOfARecordAndOfARecipe) {
    const ScratchDirectory scratch;
    const fs::path tool = bad_tool(scratch, "crash");
    ASSERT_EQ(difffuzz(scratch, words_for(tool, "out", {"--no-triage", "--max-new", "1"})).code, 1);
    const fs::path record = records_of(scratch.path() / "out").at(0);
    const std::vector<std::string> tools{"--subject", tool, "--reference", "/usr/bin/qemu-img"};
    const auto shrink = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "shrink");
        words.insert(words.end(), tools.begin(), tools.end());
        return difffuzz(scratch, words);
    };
    const Ended from_record = shrink({record, "--out", "least.json", "--jobs", "1"});
    ASSERT_EQ(from_record.code, 0) << from_record.out << from_record.err;
    EXPECT_THAT(from_record.out, AllOf(HasSubstr("to   1 step, "), HasSubstr("nothing more can go"),
                                       HasSubstr("--backing-chain")));
    const json least = json::parse(read_file(scratch.path() / "least.json"));
    EXPECT_EQ(least.at("original_recipe"), json::parse(read_file(record)).at("recipe"));
    EXPECT_EQ(least.at("plan"), json::parse(read_file(record)).at("plan"));
    EXPECT_EQ(difffuzz(scratch, {"repro", "least.json", "--subject", tool, "--reference",
                                 "/usr/bin/qemu-img"})
                  .code,
              0);
    EXPECT_EQ(run_tool(scratch.path(), {"bash", "-n", "least.json.sh"}).ending, Ending{Exited{0}});
    // The same from the bare recipe, with workers that run ahead; and from the least one nothing.
    std::ofstream(scratch.path() / "recipe.json")
        << json::parse(read_file(record)).at("recipe").dump();
    ASSERT_EQ(shrink({"recipe.json", "--out", "again.json", "--jobs", "4"}).code, 0);
    EXPECT_EQ(json::parse(read_file(scratch.path() / "again.json")).at("recipe"),
              least.at("recipe"));
    ASSERT_EQ(shrink({"least.json", "--out", "less.json"}).code, 0);
    EXPECT_EQ(json::parse(read_file(scratch.path() / "less.json")).at("recipe"),
              least.at("recipe"));
    // A budget that is too small says so; a tool that does well shows nothing to shrink.
    EXPECT_THAT(shrink({record, "--runs", "1"}).out, HasSubstr("more --runs"));
    EXPECT_EQ(difffuzz(scratch, {"shrink", record, "--subject", "/usr/bin/qemu-img", "--reference",
                                 "/usr/bin/qemu-img"})
                  .code,
              1);
}

}  // namespace
}  // namespace difffuzz::test

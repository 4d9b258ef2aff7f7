// Whole campaigns on real tools, and on tools that do their worst.
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
#include "tests/support/effort.hpp"

namespace difffuzz::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::vector<std::string> versions(const std::string& out, std::vector<std::string> more) {
    // These tests want divergences, whoever knows them.
    std::vector<std::string> words{"--seed",      "42",          "--subject", "/usr/bin/qemu-img",
                                   "--reference", second_qemu(), "--out",     out,
                                   "--known",     "off"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST(Campaign, NullRunIsNamedSoAndFindsNothing) {
    const ScratchDirectory scratch;
    const Ended ended =
        difffuzz(scratch, {"--seed", "42", "--iterations", "300", "--subject", "/usr/bin/qemu-img",
                           "--reference", "/usr/bin/qemu-img", "--out", "out"});
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("verdict: null run"));
    const nlohmann::json summary = summary_of(scratch, "out");
    EXPECT_GE(summary.at("compared").get<int>(), 210);
    EXPECT_TRUE(summary.at("buckets").empty());
    std::uint64_t books = 0;
    for (const auto& book : summary.at("books").items()) {
        books += book.value().get<std::uint64_t>();
    }
    EXPECT_EQ(books, 300U);
}

TEST(Campaign, RecordSetIsTheSameForAnyJobsAndAfterAKill) {
    const ScratchDirectory scratch;
    ASSERT_EQ(difffuzz(scratch, versions("one", {"--iterations", "150", "--jobs", "1"})).code, 1);
    ASSERT_EQ(difffuzz(scratch, versions("four", {"--iterations", "150", "--jobs", "4"})).code, 1);

    std::vector<std::string> words = versions("killed", {"--iterations", "150", "--jobs", "2"});
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
    // Kill it in the middle: once some cases are committed.
    const fs::path journal = scratch.path() / "killed" / "journal.ndjson";
    const auto commits = [&] {
        std::ifstream file(journal);
        std::size_t count = 0;
        for (std::string line; std::getline(file, line);) {
            count += line.find("\"committed\"") != std::string::npos ? 1U : 0U;
        }
        return count;
    };
    while (commits() < 40 && ::waitpid(child, nullptr, WNOHANG) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_LT(commits(), 150U) << "it was not killed in time to show anything";
    const Ended report = difffuzz(scratch, {"report", "killed"});
    EXPECT_EQ(report.code, 4);
    EXPECT_THAT(report.out, HasSubstr("incomplete"));
    ASSERT_EQ(difffuzz(scratch, {"run", "--resume", "--out", "killed", "--subject",
                                 "/usr/bin/qemu-img", "--reference", second_qemu()})
                  .code,
              1);

    const std::string one = difffuzz(scratch, {"report", "one", "--canonical"}).out;
    EXPECT_FALSE(one.empty());
    EXPECT_EQ(one, difffuzz(scratch, {"report", "four", "--canonical"}).out);
    EXPECT_EQ(one, difffuzz(scratch, {"report", "killed", "--canonical"}).out);
}

TEST(Campaign, EveryRecordReproducesWithAndWithoutDifffuzz) {
    const ScratchDirectory scratch;
    ASSERT_EQ(difffuzz(scratch, versions("out", {"--iterations", "200"})).code, 1);
    std::size_t records = 0;
    for (const auto& entry : fs::recursive_directory_iterator(scratch.path() / "out/records")) {
        if (entry.path().filename() != "record.json") {
            continue;
        }
        ++records;
        const Ended repro = difffuzz(scratch, {"repro", entry.path(), "--subject",
                                               "/usr/bin/qemu-img", "--reference", second_qemu()});
        EXPECT_EQ(repro.code, 0) << entry.path() << repro.out << repro.err;
        const Outcome script = run_tool(
            scratch.path(), {"env", "SUBJECT=/usr/bin/qemu-img", "REFERENCE=" + second_qemu(),
                             "bash", entry.path().parent_path() / "reproduce.sh"});
        EXPECT_EQ(script.ending, Ending{Exited{0}}) << entry.path() << script.out.head;
        // The same case on one tool: gone, for both.
        const Ended gone = difffuzz(scratch, {"repro", entry.path(), "--subject", second_qemu(),
                                              "--reference", second_qemu()});
        EXPECT_EQ(gone.code, 1) << entry.path() << gone.out << gone.err;
        const Outcome same = run_tool(
            scratch.path(), {"env", "SUBJECT=" + second_qemu(), "REFERENCE=" + second_qemu(),
                             "bash", entry.path().parent_path() / "reproduce.sh"});
        EXPECT_EQ(same.ending, Ending{Exited{1}}) << entry.path() << same.out.head;
    }
    EXPECT_GE(records, 5U);
    const std::string source = DIFFFUZZ_SOURCE_DIR;
    const Outcome schemas = run_tool(
        scratch.path(), {source + "/tests/scripts/validate_evidence.py", source + "/docs", "out"});
    EXPECT_EQ(schemas.ending, Ending{Exited{0}}) << schemas.out.head << schemas.err.head;
}

TEST(Campaign, MaxNewEndsAtTheSameCaseForAnyJobs) {
    const ScratchDirectory scratch;
    for (const char* jobs : {"1", "3"}) {
        const Ended ended = difffuzz(scratch, versions(jobs, {"--iterations", "300", "--jobs", jobs,
                                                              "--max-new", "3", "--no-triage"}));
        EXPECT_EQ(ended.code, 1) << ended.err;
        EXPECT_EQ(summary_of(scratch, jobs).at("buckets").size(), 3U);
    }
    EXPECT_EQ(summary_of(scratch, "1").at("books"), summary_of(scratch, "3").at("books"));
}

TEST(Campaign, ShardsLeaveTheRestOutsideAndTogetherCoverAll) {
    const ScratchDirectory scratch;
    std::uint64_t inside = 0;
    for (const std::string shard : {"1/3", "2/3", "3/3"}) {
        const std::string out = "shard" + shard.substr(0, 1);
        difffuzz(scratch, versions(out, {"--iterations", "60", "--shard", shard, "--no-triage"}));
        const nlohmann::json books = summary_of(scratch, out).at("books");
        EXPECT_EQ(books.at("outside_shard"), 40);
        inside += 60 - books.at("outside_shard").get<std::uint64_t>();
    }
    EXPECT_EQ(inside, 60U);
}

TEST(Campaign, AReferenceOutOfTheWorkspaceIsAFindingAndIsNotFollowed) {
    const ScratchDirectory scratch;
    const fs::path tool = scratch.path() / "bad_tool-escape";
    fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", tool);
    difffuzz(scratch, {"--seed", "3", "--iterations", "150", "--ops", "create,info", "--subject",
                       tool, "--reference", "/usr/bin/qemu-img", "--out", "out", "--no-triage"});
    bool found = false;
    const nlohmann::json summary = summary_of(scratch, "out");
    for (const nlohmann::json& bucket : summary.at("buckets")) {
        if (bucket.at("symptom").at("field") == "escapes") {
            found = true;
            EXPECT_EQ(bucket.at("type"), "create_files_divergence");
            EXPECT_EQ(bucket.at("severity"), "corruption");
        }
    }
    EXPECT_TRUE(found);
}

// One tool that misbehaves on some cases of one operation.
struct Misbehaviour {
    std::string mode;
    std::string terminal;  // in the books
    std::string type;      // of the bucket; empty: no divergence
    int code;
    std::string also = {};  // another type that some cases may give
};

class BadTool : public testing::TestWithParam<Misbehaviour> {};

TEST_P(BadTool, EndsAsItsTypedOutcome) {
    const Misbehaviour& bad = GetParam();
    const ScratchDirectory scratch;
    const fs::path tool = scratch.path() / ("bad_tool-" + bad.mode);
    fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", tool);
    const Ended ended =
        difffuzz(scratch, {"--seed", "5", "--iterations", "24", "--ops", "info", "--subject", tool,
                           "--reference", "/usr/bin/qemu-img", "--out", "out", "--timeout", "1",
                           "--memory-limit", "512", "--disk-limit", "256", "--no-triage"});
    EXPECT_EQ(ended.code, bad.code) << ended.out << ended.err;
    const nlohmann::json summary = summary_of(scratch, "out");
    EXPECT_GT(summary.at("books").value(bad.terminal, 0), 0) << summary.at("books");
    std::vector<std::string> types;
    for (const nlohmann::json& bucket : summary.at("buckets")) {
        types.push_back(bucket.at("type"));
    }
    if (bad.type.empty()) {
        EXPECT_TRUE(types.empty()) << summary.at("buckets");
    } else {
        EXPECT_THAT(types, testing::Each(testing::AnyOf(bad.type, bad.also)));
        EXPECT_THAT(types, testing::Contains(bad.type));
    }
    if (bad.mode == "hang") {
        EXPECT_FALSE(summary.at("hangs").empty());
        EXPECT_EQ(summary.at("hangs").at(0).at("side"), "subject");
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTool,
    testing::Values(
        Misbehaviour{"crash", "diverged", "info_crash_divergence", 1},
        Misbehaviour{"hang", "inconclusive_external_timeout", "", 4},
        Misbehaviour{"flood", "diverged", "info_resource_divergence", 1},
        Misbehaviour{"sparse", "inconclusive_limited", "", 4},
        // Where the reference is known to have used little of the disk; else inconclusive.
        Misbehaviour{"fill", "inconclusive_limited", "info_resource_divergence", 1},
        // A command begins in its worker's memory, which counts as its own: under a
        // sanitizer that alone is beyond the tenth that the reference may take.
        under_sanitizer() ? Misbehaviour{"memory", "inconclusive_limited", "", 4}
                          : Misbehaviour{"memory", "diverged", "info_resource_divergence", 1},
        Misbehaviour{"daemon", "diverged", "info_files_divergence", 1},
        Misbehaviour{"leftover", "diverged", "info_files_divergence", 1},
        // Refused cases end in other words.
        Misbehaviour{"rmdir", "diverged", "info_exit_divergence", 1, "info_error_divergence"},
        // With --image-opts its last word is no file that it could write to.
        Misbehaviour{"input", "diverged", "info_inputs_divergence", 1, "info_exit_divergence"}),
    [](const auto& instance) { return instance.param.mode; });

}  // namespace
}  // namespace difffuzz::test

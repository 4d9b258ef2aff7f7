// Tools that cannot do what they are asked, change, or say strange things: what a campaign makes of
// them.
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

// A copy of the stub that misbehaves in the way of `mode`.
fs::path bad_tool(const ScratchDirectory& scratch, const std::string& mode) {
    fs::path tool = scratch.path() / ("bad_tool-" + mode);
    fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", tool);
    return tool;
}

std::vector<std::string> campaign(const std::string& subject, const std::vector<std::string>& more,
                                  const std::string& iterations = "12") {
    std::vector<std::string> words{
        "--seed",    "5",     "--iterations", iterations,          "--jobs", "1",
        "--subject", subject, "--reference",  "/usr/bin/qemu-img", "--out",  "out"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// difffuzz, started and not waited for, with its standard error in a file.
class Running {
public:
    Running(const ScratchDirectory& scratch, std::vector<std::string> words) {
        words.insert(words.begin(), std::string(DIFFFUZZ_BINARY_DIR) + "/difffuzz");
        std::vector<char*> argv;
        for (std::string& word : words) {
            argv.push_back(word.data());
        }
        argv.push_back(nullptr);
        err_ = scratch.path() / "stderr";
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addchdir_np(&actions, scratch.path().c_str());
        posix_spawn_file_actions_addopen(
            &actions, STDOUT_FILENO, (scratch.path() / "stdout").c_str(), O_WRONLY | O_CREAT, 0600);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.c_str(), O_WRONLY | O_CREAT,
                                         0600);
        EXPECT_EQ(::posix_spawn(&child_, argv[0], &actions, nullptr, argv.data(), environ), 0);
        posix_spawn_file_actions_destroy(&actions);
    }
    ~Running() {
        if (child_ > 0) {
            ::kill(child_, SIGKILL);
            ::waitpid(child_, nullptr, 0);
        }
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    void interrupt() const { ::kill(child_, SIGINT); }
    bool ended() { return code_ || collect(WNOHANG); }
    int wait() {
        if (!code_) {
            collect(0);
        }
        return *code_;
    }
    std::string err() const { return read_file(err_); }

private:
    bool collect(int flags) {
        int status = 0;
        if (::waitpid(child_, &status, flags) != child_) {
            return false;
        }
        child_ = -1;
        code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        return true;
    }

    pid_t child_ = -1;
    fs::path err_;
    std::optional<int> code_;
};

// Until `condition` holds or difffuzz has ended.
template <typename Condition>
bool wait_for(Running& difffuzz, Condition condition) {
    while (!condition()) {
        if (difffuzz.ended()) {
            return condition();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

// Whether a process runs whose program has this file name, with a first word that `accepts` takes.
template <typename Accepts>
bool runs(const std::string& program, Accepts accepts) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        if (fs::read_symlink(entry.path() / "exe", error).filename() == program && !error) {
            std::ifstream words(entry.path() / "cmdline");
            std::string first;
            std::string second;
            std::getline(words, first, '\0');
            std::getline(words, second, '\0');
            if (accepts(second)) {
                return true;
            }
        }
    }
    return false;
}

// By a signal, or by a sanitizer's report and an exit code.
TEST(Tools, ACrashInEveryTryIsAFindingAndNoMissingOperation) {
    for (const char* mode : {"dead", "sanitized"}) {
        const ScratchDirectory scratch;
        const Ended ended =
            difffuzz(scratch, campaign(bad_tool(scratch, mode), {"--ops", "info,check"}));
        EXPECT_EQ(ended.code, 1) << mode << ended.out << ended.err;
        const nlohmann::json summary = summary_of(scratch, "out");
        EXPECT_TRUE(summary.at("unavailable").empty()) << mode << summary.at("unavailable");
        EXPECT_GE(summary.at("books").value("diverged", 0), 10) << mode << summary.at("books");
        EXPECT_THAT(ended.out, HasSubstr("info_crash_divergence"));
    }
}

TEST(Tools, AnOperationThatIsAlwaysRefusedIsNotAvailableInTheToolsOwnWords) {
    const ScratchDirectory scratch;
    const Ended ended =
        difffuzz(scratch, campaign(bad_tool(scratch, "noinfo"), {"--ops", "info,check"}));
    const nlohmann::json unavailable = summary_of(scratch, "out").at("unavailable");
    EXPECT_THAT(unavailable, ElementsAre(nlohmann::json{{"operation", "info"},
                                                        {"tool", "subject"},
                                                        {"outcome", "refused"},
                                                        {"words", "\\x1B[31mwhat info?"}}));
    EXPECT_THAT(ended.out,
                HasSubstr("not available: info (subject: refused, '\\x1B[31mwhat info?')"));
}

TEST(Tools, ATelltaleSentenceForAToolThatDoesNothing) {
    const ScratchDirectory scratch;
    const auto words = campaign(bad_tool(scratch, "incomplete"), {"--ops", "info"});
    const Ended ended = difffuzz(scratch, words);
    EXPECT_EQ(ended.code, 3);
    EXPECT_THAT(ended.err, HasSubstr("'no interpreter' to 'info' (refused)"));
    EXPECT_THAT(ended.err, HasSubstr("--expose"));
    // Nothing was begun, so nothing stands in the way of the next try.
    EXPECT_THAT(difffuzz(scratch, words).err, HasSubstr("no interpreter"));
    const Ended refusing =
        difffuzz(scratch, campaign(bad_tool(scratch, "noinfo"), {"--ops", "info"}));
    EXPECT_EQ(refusing.code, 3);
    EXPECT_THAT(refusing.err, HasSubstr("'\\x1B[31mwhat info?' to 'info' (refused)"));
    EXPECT_THAT(refusing.err, Not(HasSubstr("--expose")));
}

TEST(Tools, InterruptedControlsShowNothingAboutTools) {
    const ScratchDirectory scratch;
    Running running(scratch,
                    campaign(bad_tool(scratch, "asleep"), {"--ops", "info", "--timeout", "60"}));
    const auto of_a_case = [](const std::string& word) {
        return !word.empty() && word[0] != '-' && word != "create";
    };
    ASSERT_TRUE(wait_for(running, [&] { return runs("bad_tool-asleep", of_a_case); }))
        << running.err();
    running.interrupt();
    EXPECT_EQ(running.wait(), 130) << running.err();
    const nlohmann::json summary = summary_of(scratch, "out");
    EXPECT_TRUE(summary.at("controls").empty());
    EXPECT_TRUE(summary.at("unavailable").empty());
    EXPECT_THAT(summary.at("verdict").at("line").get<std::string>(), HasSubstr("interrupted"));
}

// Before the campaign has anything to save.
TEST(Tools, InterruptedWhileTheyAreIdentifiedIsSaidAndLeavesNothing) {
    const ScratchDirectory scratch;
    const auto words = campaign(bad_tool(scratch, "mute"), {"--ops", "info", "--timeout", "60"});
    {
        Running running(scratch, words);
        const auto any = [](const std::string&) { return true; };
        ASSERT_TRUE(wait_for(running, [&] { return runs("bad_tool-mute", any); })) << running.err();
        running.interrupt();
        EXPECT_EQ(running.wait(), 130);
        EXPECT_THAT(running.err(), HasSubstr("difffuzz: interrupted\n"));
    }
    const Ended again = difffuzz(
        scratch, campaign(bad_tool(scratch, "good"), {"--ops", "info", "--timeout", "60"}));
    EXPECT_NE(again.code, 3) << again.err;
}

TEST(Tools, BadBytesInVersionHelpAndFileName) {
    const ScratchDirectory scratch;
    const fs::path tool = scratch.path() / "bad\xff\x1b_tool-noise";
    fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", tool);
    const Ended ended = difffuzz(scratch, campaign(tool, {"--ops", "info"}));
    EXPECT_THAT(ended.code, testing::AnyOf(0, 1)) << ended.out << ended.err;
    const nlohmann::json subject =
        nlohmann::json::parse(read_file(scratch.path() / "out/campaign.json")).at("subject");
    EXPECT_EQ(subject.at("version_text"), "qemu-img version 7.2.?? ?[31m?(");
    EXPECT_THAT(subject.at("formats"), ElementsAre("qcow2", "raw"));
    EXPECT_THAT(subject.at("files").dump(), HasSubstr(R"(bad\\xFF\\x1B_tool-noise)"));
    // Names on a terminal too.
    const Ended gone = difffuzz(scratch, {"--subject", "/no/\x1b[2J\xff"});
    EXPECT_EQ(gone.code, 3);
    EXPECT_THAT(gone.err, HasSubstr("'/no/\\x1B[2J\\xFF' does not exist"));
}

TEST(Tools, OneThatIsReplacedEndsTheCampaign) {
    const ScratchDirectory scratch;
    const fs::path tool = bad_tool(scratch, "good");
    Running running(scratch, campaign(tool, {"--ops", "info"}, "100000"));
    const fs::path journal = scratch.path() / "out" / "journal.ndjson";
    ASSERT_TRUE(wait_for(running, [&] {
        return fs::exists(journal) && fs::file_size(journal) > 0;
    })) << running.err();
    fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", scratch.path() / "new");
    fs::rename(scratch.path() / "new", tool);
    EXPECT_EQ(running.wait(), 3);
    EXPECT_THAT(running.err(),
                HasSubstr("the subject (" + tool.string() + ") changed during the campaign; "));
}

}  // namespace
}  // namespace difffuzz::test

// Files that the user names for a result: what stands there is not harmed, and what cannot be
// written is said before any work.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
namespace fs = std::filesystem;

class OutputFiles : public testing::Test {
protected:
    // Evidence of three cases.
    void make_evidence() const {
        const Ended run = difffuzz(
            scratch_, {"--seed", "5", "--iterations", "3", "--ops", "info", "--subject",
                       "/usr/bin/qemu-img", "--reference", "/usr/bin/qemu-img", "--out", "out"});
        ASSERT_EQ(run.code, 0) << run.err;
    }
    fs::path at(const std::string& name) const { return scratch_.path() / name; }
    Ended report(std::vector<std::string> words) const {
        words.insert(words.begin(), {"report", "out"});
        return difffuzz(scratch_, words);
    }
    // In the shell, for what only redirections can do.
    Outcome shell(const std::string& words) const {
        return run_tool(scratch_.path(),
                        {"sh", "-c", std::string(DIFFFUZZ_BINARY_DIR) + "/difffuzz " + words});
    }
    // One sentence that names flag and path, and nothing made.
    void expect_refused(const Ended& ended, const std::string& words) const {
        EXPECT_EQ(ended.code, 2) << ended.out << ended.err;
        EXPECT_THAT(ended.err, HasSubstr(words));
        EXPECT_EQ(lines(ended.err), 1U) << ended.err;
        EXPECT_THAT(ended.err, Not(HasSubstr("of the evidence")));
    }

    ScratchDirectory scratch_;
};

TEST_F(OutputFiles, DevicesPipesAndLinksAreWrittenAndNotReplaced) {
    make_evidence();
    // A pipe gets the text, which fits into it.
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    const int pipe = ::open(at("pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    const Ended piped = report({"--junit", "pipe"});
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_TRUE(fs::is_fifo(at("pipe")));
    std::string read(1 << 16, '\0');
    read.resize(
        static_cast<std::size_t>(std::max<ssize_t>(0, ::read(pipe, read.data(), read.size()))));
    ::close(pipe);
    EXPECT_THAT(read, AllOf(StartsWith("<?xml"), HasSubstr("</testsuites>")));
    // A link stays, and what it names is made or replaced, with its mode.
    fs::create_directory(at("far"));
    fs::create_symlink("far/page", at("link"));
    EXPECT_EQ(report({"--html", "link"}).code, 0);
    EXPECT_TRUE(fs::is_symlink(at("link")));
    EXPECT_THAT(read_file(at("far/page")), HasSubstr("</html>"));
    ASSERT_EQ(::chmod(at("far/page").c_str(), 0600), 0);
    EXPECT_EQ(report({"--markdown", "link"}).code, 0);
    EXPECT_THAT(read_file(at("far/page")), StartsWith("## "));
    EXPECT_EQ(fs::status(at("far/page")).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(std::distance(fs::directory_iterator(at("far")), fs::directory_iterator()), 1);
    // A device that takes nothing. Behind a link, so that even a replacement would do no harm.
    fs::create_symlink("/dev/full", at("full"));
    const Ended full = report({"--html", "full"});
    EXPECT_EQ(full.code, 3);
    EXPECT_THAT(full.err, AllOf(HasSubstr("cannot write --html 'full': No space left"),
                                Not(HasSubstr("of the evidence"))));
    EXPECT_TRUE(fs::is_symlink(at("full")));
}

TEST_F(OutputFiles, StandardOutputIsADashAndHoldsTheReportAlone) {
    make_evidence();
    const Ended dash = report({"--junit", "-"});
    EXPECT_EQ(dash.code, 0);
    EXPECT_THAT(dash.out, AllOf(StartsWith("<?xml"), Not(HasSubstr("verdict: "))));
    EXPECT_THAT(dash.err, HasSubstr("verdict: "));
    EXPECT_FALSE(fs::exists(at("-")));
    // By its other names too, where the second writer would overwrite the first.
    fs::create_symlink("/dev/stdout", at("stdout"));
    EXPECT_EQ(shell("report out --junit stdout >same").ending, Ending{Exited{0}});
    EXPECT_EQ(read_file(at("same")), dash.out);
    EXPECT_EQ(shell("report out --junit same >same").ending, Ending{Exited{0}});
    EXPECT_EQ(read_file(at("same")), dash.out);
    fs::create_symlink("/dev/null", at("null"));
    EXPECT_EQ(shell("report out --json --junit null >/dev/null").ending, Ending{Exited{0}});
    expect_refused(report({"--junit", "-", "--html", "-"}), "are the same file");
    expect_refused(report({"--junit", "-", "--json"}), "do not go together");
}

TEST_F(OutputFiles, WhatCannotBeWrittenIsRefusedBeforeAnythingIsWritten) {
    make_evidence();
    fs::create_directory(at("dir"));
    fs::create_symlink("x", at("alias"));
    fs::create_symlink("ring", at("ring"));
    expect_refused(report({"--junit", "good", "--html", "dir"}),
                   "cannot write --html 'dir': it is a");
    expect_refused(report({"--junit", "good", "--html", "new/"}), "names a directory");
    expect_refused(report({"--junit", "good", "--sarif", "no/file"}), "there is no directory");
    expect_refused(report({"--junit", "good", "--html", "ring"}), "cannot write --html 'ring'");
    expect_refused(report({"--junit", "x", "--html", "./dir/../x"}),
                   "--html './dir/../x' and --junit 'x' are the same");
    expect_refused(report({"--junit", "x", "--html", "alias"}), "are the same file");
    expect_refused(report({"--json", "--canonical"}), "--canonical");
    expect_refused(report({"--junit", "good", "--canonical"}), "--canonical");
    EXPECT_FALSE(fs::exists(at("good")));
    EXPECT_FALSE(fs::exists(at("x")));
}

// With a subject that is not there: a check after it would name that instead.
TEST_F(OutputFiles, OfShrinkMustBeNewAndCanBeMade) {
    const Ended drawn = difffuzz(scratch_, {"draw", "--seed", "1", "--ops", "info"});
    std::ofstream(at("case.json")) << drawn.out;
    std::ofstream(at("precious.sh")) << "keep";
    fs::create_symlink("nowhere", at("link"));
    fs::create_directory(at("dir"));
    const auto shrink = [&](const std::string& out) {
        return difffuzz(scratch_,
                        {"shrink", "case.json", "--subject", "/no/such/tool", "--out", out});
    };
    expect_refused(shrink("precious"), "'precious.sh': it exists and is not overwritten");
    expect_refused(shrink("precious.sh"), "it exists and is not overwritten");
    expect_refused(shrink("link"), "it exists and is not overwritten");
    expect_refused(shrink("/dev/full"), "it exists and is not overwritten");
    expect_refused(shrink("dir"), "it is a directory");
    expect_refused(shrink("no/file"), "there is no directory");
    expect_refused(shrink("-"), "not standard output");
    EXPECT_EQ(shrink("free").code, 3);
    EXPECT_EQ(read_file(at("precious.sh")), "keep");
}

TEST_F(OutputFiles, OfSelftestNeedADirectory) {
    std::ofstream(at("plain")) << "keep";
    expect_refused(difffuzz(scratch_, {"selftest", "--exhibits", "--recipes", "plain",
                                       "--reference", "/no/such/tool"}),
                   "cannot use --recipes 'plain'");
    EXPECT_EQ(read_file(at("plain")), "keep");
}

}  // namespace
}  // namespace difffuzz::test

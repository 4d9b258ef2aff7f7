// What users get wrong: one sentence on stderr, the documented exit code, nothing lost.
#include <algorithm>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using testing::HasSubstr;

void expect_refused(const Ended& ended, int code, const std::string& words) {
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(words));
    EXPECT_EQ(lines(ended.err), 1U) << ended.err;
}

TEST(CommandLine, MisspeltFlagsAndCommandsAreNamed) {
    const ScratchDirectory scratch;
    expect_refused(difffuzz(scratch, {"--iteratons", "5"}), 2, "did you mean '--iterations'?");
    expect_refused(difffuzz(scratch, {"rnu"}), 2, "did you mean 'run'?");
    expect_refused(difffuzz(scratch, {"draw", "--jobs", "3"}), 2, "it is one of run");
    expect_refused(difffuzz(scratch, {"--iterations", "many"}), 2, "--iterations");
    expect_refused(difffuzz(scratch, {"--subject", "/usr/bin/qemu-img", "--ops", "convrt"}), 2,
                   "did you mean 'convert'?");
    expect_refused(
        difffuzz(scratch, {"--subject", "/usr/bin/qemu-img", "--max-new", "1", "--shard", "1/2"}),
        2, "do not go together");
}

TEST(CommandLine, TheSubjectMustBeNamedAndUsable) {
    const ScratchDirectory scratch;
    expect_refused(difffuzz(scratch, {"--no-config", "--iterations", "5"}), 2, "DIFFFUZZ_SUBJECT");
    expect_refused(difffuzz(scratch, {"--subject", "/no/such/tool"}), 3, "does not exist");
    std::ofstream(scratch.path() / "plain") << "not a program";
    expect_refused(difffuzz(scratch, {"--subject", "./plain"}), 3, "cannot be executed");
    // A file of the working directory is never taken for the qemu-img of PATH.
    std::ofstream(scratch.path() / "qemu-img") << "not a program";
    expect_refused(difffuzz(scratch, {"--subject", "no-such-tool"}), 3, "not on PATH");
}

TEST(CommandLine, EvidenceThatIsNotEmptyOrLockedIsRefused) {
    const ScratchDirectory scratch;
    std::filesystem::create_directory(scratch.path() / "out");
    std::ofstream(scratch.path() / "out" / "precious") << "keep";
    const std::vector<std::string> run{
        "--subject", "/usr/bin/qemu-img", "--iterations", "5", "--out", "out"};
    expect_refused(difffuzz(scratch, run), 2, "--resume");
    EXPECT_EQ(read_file(scratch.path() / "out" / "precious"), "keep");
    std::filesystem::remove(scratch.path() / "out" / "precious");
    const int lock =
        ::open((scratch.path() / "out" / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_EQ(::flock(lock, LOCK_EX), 0);
    expect_refused(difffuzz(scratch, run), 3, "in use by another difffuzz");
    ::close(lock);
    expect_refused(
        difffuzz(scratch, {"--subject", "/usr/bin/qemu-img", "--resume", "--out", "nowhere"}), 2,
        "holds no campaign");
}

TEST(CommandLine, HostileRecipesAreRefused) {
    const ScratchDirectory scratch;
    const auto refused = [&](const std::string& text, const std::string& words) {
        std::ofstream(scratch.path() / "recipe.json") << text;
        expect_refused(
            difffuzz(scratch, {"repro", "recipe.json", "--subject", "/usr/bin/qemu-img"}), 2,
            words);
    };
    refused("{", "not JSON");
    refused(std::string(200'000, '['), "nested");
    refused("{\"schema\":\"difffuzz.recipe/1\"}", "lacks the field");
    expect_refused(difffuzz(scratch, {"repro", "gone.json", "--subject", "/usr/bin/qemu-img"}), 2,
                   "cannot read 'gone.json'");
    ASSERT_EQ(::mkfifo((scratch.path() / "pipe").c_str(), 0600), 0);
    expect_refused(difffuzz(scratch, {"repro", "pipe", "--subject", "/usr/bin/qemu-img"}), 2,
                   "not a regular file");
    // A recipe that is well formed and asks for more than the operation may.
    const Ended drawn = difffuzz(scratch, {"draw", "--seed", "1", "--ops", "info"});
    nlohmann::json recipe = nlohmann::json::parse(drawn.out);
    recipe["steps"][0]["arguments"].push_back({{"option", "--image-opts"}});
    refused(recipe.dump(), "outside of the envelope");
    recipe = nlohmann::json::parse(drawn.out);
    recipe["steps"][0]["command"] = "rebase";
    refused(recipe.dump(), "outside of the envelope");
    recipe = nlohmann::json::parse(drawn.out);
    recipe["steps"][0]["actor"] = "neutral";
    recipe["steps"][0]["arguments"].push_back({{"option", "--object"}, {"value", "secret,id"}});
    refused(recipe.dump(), "outside of the envelope");
}

TEST(CommandLine, DrawTouchesNoToolAndEqualsThePlan) {
    const ScratchDirectory scratch;
    const Ended all = difffuzz(scratch, {"draw", "--seed", "42", "-n", "5"});
    ASSERT_EQ(all.code, 0) << all.err;
    EXPECT_EQ(lines(all.out), 5U);
    const Ended third = difffuzz(scratch, {"draw", "--seed", "42", "--case", "2"});
    EXPECT_THAT(all.out, HasSubstr(third.out));
    const Ended pinned = difffuzz(
        scratch, {"draw", "--seed", "42", "--ops", "bench", "--pin", "intent.refused=false"});
    EXPECT_THAT(pinned.out, HasSubstr("\"valid\""));
    expect_refused(difffuzz(scratch, {"draw", "--seed", "42", "--pin", "no.such=1"}), 2,
                   "no draw of this case");
    expect_refused(difffuzz(scratch, {"draw"}), 2, "--seed");
}

TEST(CommandLine, EveryHelpEndsWithAnExample) {
    const ScratchDirectory scratch;
    for (const char* command : {"run", "draw", "repro", "report", "ops"}) {
        const Ended help = difffuzz(scratch, {command, "--help"});
        EXPECT_EQ(help.code, 0);
        const std::size_t example = help.out.rfind("example:");
        ASSERT_NE(example, std::string::npos) << command;
        EXPECT_THAT(help.out.substr(example), HasSubstr("difffuzz ")) << command;
    }
}

}  // namespace
}  // namespace difffuzz::test

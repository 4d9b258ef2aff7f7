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
    recipe["steps"][0]["arguments"].push_back({{"option", "--target-image-opts"}});
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
    const Ended pinned =
        difffuzz(scratch, {"draw", "--seed", "42", "--ops", "bench", "--pin",
                           "intent.damaged=false", "--pin", "intent.refused=false"});
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

TEST(CommandLine, TooLittleAndTooMuchAreSentences) {
    const ScratchDirectory scratch;
    const auto refused = [&](const std::vector<std::string>& words, const std::string& sentence) {
        expect_refused(difffuzz(scratch, words), 2, "difffuzz: " + sentence);
    };
    refused({"--iterations"}, "--iterations needs a value; see 'difffuzz run --help'");
    refused({"draw", "-n"}, "--number needs a value;");
    refused({"--seed", "1", "--seed", "2"}, "--seed is given 2 times; give it once;");
    refused({"--out", "a", "--out", "b"}, "--out is given 2 times;");
    refused({"report"}, "'difffuzz report' needs EVIDENCE;");
    refused({"report", "a", "b"}, "'difffuzz report' takes only 1 EVIDENCE, not 2;");
    refused({"report", "a", "--json=no"}, "--json takes no value;");
    refused({"--resume=maybe"}, "--resume takes no value;");
    refused({"report", "a", "--html", ""}, "--html must not be empty");
    refused({"draw", "--as", "yaml"}, "--as takes json or shell, not 'yaml'");
}

TEST(CommandLine, NumbersAreReadStrictly) {
    const ScratchDirectory scratch;
    const std::pair<const char*, std::vector<const char*>> flags[] = {
        {"--seed", {"-1", "010", "+1", " 1", "1 ", "0x1", "1e3", "", "18446744073709551616"}},
        {"--iterations", {"0", "-5", "1.5", "many"}},
        {"--timeout", {"nan", "inf", "-1", "0", "", "1e1", "0.05", "1.", ".5", "3601", "1.0001"}},
        {"--duration", {"0", "-1", ""}},
        {"--jobs", {"0", "257", "01"}},
        {"--damaged", {"101", "-0"}},
        {"--memory-limit", {"15", "0x20"}},
        {"--shard", {"-1/4", "1/ 4", "0/2", "3/2", "01/2", "1"}},
        {"--out", {""}},
        {"--ops", {""}},
        {"--subject", {""}},
        {"--expose", {""}},
    };
    for (const auto& [flag, values] : flags) {
        for (const char* value : values) {
            // A run that is refused for nothing else.
            std::vector<std::string> words{flag, value};
            if (std::string(flag) != "--subject") {
                words.insert(words.end(), {"--subject", "/usr/bin/qemu-img"});
            }
            expect_refused(difffuzz(scratch, words), 2, flag);
        }
    }
    expect_refused(difffuzz(scratch, {"--out=", "--jobs", "2"}), 2, "--out must not be empty");
    expect_refused(difffuzz(scratch, {"draw", "--seed", "1", "-n", "0"}), 2, "--number");
    expect_refused(difffuzz(scratch, {"draw", "--seed", "1", "--pin", "a=1", "--pin", "a=2"}), 2,
                   "'a' twice");
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
    EXPECT_EQ(difffuzz(scratch, {"draw", "--seed", "18446744073709551615"}).code, 0);
}

TEST(CommandLine, ADeeplyNestedConfigurationIsASentence) {
    const ScratchDirectory scratch;
    std::string key = "a";
    for (int i = 0; i < 30'000; ++i) {
        key += ".a";
    }
    std::ofstream(scratch.path() / "difffuzz.toml") << "\n" << key << " = 1\n";
    expect_refused(difffuzz(scratch, {"--iterations", "1"}), 2, "line 2: keys may have 32 parts");
}

TEST(CommandLine, APredicateThatDoesNotCompileEndsEachCommandBeforeItBegins) {
    const ScratchDirectory scratch;
    std::string text = read_file(DIFFFUZZ_SOURCE_DIR "/known_divergences/info-children.toml");
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"info-children", "bad"},
                                   {"predicate = '''\n1", "predicate = '''\nnosuch"}}) {
        ASSERT_NE(text.find(from), std::string::npos) << from;
        text.replace(text.find(from), from.size(), to);
    }
    std::filesystem::create_directory(scratch.path() / "known");
    std::ofstream(scratch.path() / "known" / "bad.toml") << text;
    const std::vector<std::string> run{
        "run", "--subject", "/usr/bin/qemu-img", "--out", "out", "--iterations", "1"};
    std::vector<std::string> run_without = run;
    run_without.insert(run_without.end(), {"--known", "off"});
    for (std::vector<std::string> words : std::vector<std::vector<std::string>>{
             {"known", "list"}, {"draw", "--seed", "1"}, run, run_without}) {
        words.insert(words.end(), {"--known-dir", "known"});
        expect_refused(difffuzz(scratch, words), 2, "no such column: nosuch");
    }
    EXPECT_FALSE(std::filesystem::exists(scratch.path() / "out"));
}

TEST(CommandLine, ShrinkOverwritesNothingAndSaysSoFirst) {
    const ScratchDirectory scratch;
    std::ofstream(scratch.path() / "recipe.json")
        << difffuzz(scratch, {"draw", "--seed", "1", "--ops", "info"}).out;
    std::ofstream(scratch.path() / "kept") << "keep";
    std::ofstream(scratch.path() / "script.sh") << "keep";
    std::filesystem::create_symlink("nowhere", scratch.path() / "link");
    for (const auto& [out, reason] : {std::pair<std::string, std::string>{
                                          "gone/a.json", "'gone/a.json': there is no directory"},
                                      {".", "'.': it is a directory"},
                                      {"kept", "'kept': it exists"},
                                      {"script", "'script.sh': it exists"},
                                      {"link", "'link': it exists"},
                                      {"kept/a.json", "Not a directory"},
                                      {"new/", "'new/'"},
                                      {std::string(254, 'n'), "File name too long"}}) {
        // The subject is not even looked for.
        expect_refused(difffuzz(scratch, {"shrink", "recipe.json", "--subject", "/no/such/tool",
                                          "--out", out}),
                       2, reason);
    }
    EXPECT_EQ(read_file(scratch.path() / "kept"), "keep");
    EXPECT_EQ(read_file(scratch.path() / "script.sh"), "keep");
    // A file that can be made is no reason.
    expect_refused(difffuzz(scratch, {"shrink", "recipe.json", "--subject", "/no/such/tool",
                                      "--out", "a.json"}),
                   3, "does not exist");
}

TEST(CommandLine, AnUnknownEntryOrFaultIsRefusedBeforeAnythingIsSaidOrRun) {
    const ScratchDirectory scratch;
    const Ended entry = difffuzz(
        scratch, {"known", "audit", "info-childre", "--subject", "/no/such", "--no-config"});
    expect_refused(entry, 2, "there is no known divergence 'info-childre', did you mean");
    EXPECT_EQ(entry.out, "");
    expect_refused(difffuzz(scratch, {"selftest", "nope"}), 2,
                   "there is no fault 'nope'; 'difffuzz selftest --list' lists all");
    const Ended faults = difffuzz(scratch, {"selftest", "--list"});
    EXPECT_EQ(faults.code, 0);
    EXPECT_THAT(faults.out, testing::StartsWith("info-crash  [info]  crash: "));
    EXPECT_GT(lines(faults.out), 50U);
    EXPECT_EQ(lines(difffuzz(scratch, {"selftest", "--list", "info-crash"}).out), 1U);
}

TEST(CommandLine, ExposeTakesDirectoriesButNotTheRoot) {
    const ScratchDirectory scratch;
    std::ofstream(scratch.path() / "plain") << "x";
    const auto expose = [&](const std::string& path) {
        return difffuzz(scratch,
                        {"--subject", "/usr/bin/qemu-img", "--iterations", "1", "--expose", path});
    };
    expect_refused(expose("/no/such"), 2, "--expose: cannot use '/no/such'");
    expect_refused(expose("plain"), 2, "--expose: 'plain' is not a directory");
    for (const char* root : {"/", "//", "/usr/.."}) {
        expect_refused(expose(root), 2, "is the root of the file system");
    }
    expect_refused(
        difffuzz(scratch, {"repro", "plain", "--subject", "/usr/bin/qemu-img", "--expose", "/no"}),
        2, "'plain'");
}

TEST(CommandLine, HelpOfACommandAndSuggestionsOfItsOwnFlags) {
    const ScratchDirectory scratch;
    const Ended help = difffuzz(scratch, {"help", "draw"});
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.out, difffuzz(scratch, {"draw", "--help"}).out);
    expect_refused(difffuzz(scratch, {"help", "drwa"}), 2, "did you mean 'draw'?");
    expect_refused(difffuzz(scratch, {"help", "draw", "run"}), 2, "takes one command");
    // --jobs is near, but no flag of ops.
    const Ended misspelt = difffuzz(scratch, {"ops", "--jbos"});
    EXPECT_EQ(misspelt.code, 2);
    EXPECT_THAT(misspelt.err, testing::Not(HasSubstr("--jobs")));
}

TEST(CommandLine, AFullStandardOutputIsNoSuccess) {
    const ScratchDirectory scratch;
    for (const char* words : {"ops", "--help", "--version", "help run", "draw --seed 1"}) {
        const Outcome outcome = run_tool(
            scratch.path(),
            {"sh", "-c", std::string(DIFFFUZZ_BINARY_DIR) + "/difffuzz " + words + " >/dev/full"});
        EXPECT_EQ(outcome.ending, Ending{Exited{3}}) << words;
        EXPECT_THAT(outcome.err.head, HasSubstr("standard output")) << words;
    }
}

}  // namespace
}  // namespace difffuzz::test

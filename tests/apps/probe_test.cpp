// difffuzz probe and recipe new, as a user runs them.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

// A tool that dies of --backing-chain.
fs::path crashing_tool(const ScratchDirectory& scratch) {
    const fs::path tool = scratch.path() / "bad_tool-crash";
    fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", tool);
    return tool;
}

Ended probe(const ScratchDirectory& scratch, std::vector<std::string> words) {
    words.insert(words.begin(), {"probe", "probes", "--reference", "/usr/bin/qemu-img",
                                 "--no-config", "--jobs", "1"});
    return difffuzz(scratch, words);
}

void write_probe(const ScratchDirectory& scratch, const std::string& name,
                 const std::string& arguments, const std::string& open) {
    fs::create_directories((scratch.path() / "probes" / name).parent_path());
    std::ofstream(scratch.path() / "probes" / name)
        << R"({"schema": "difffuzz.probe/1", "open": )" << open
        << R"(, "recipe": {"schema": "difffuzz.recipe/1", "operation": "info", "outputs": [],
            "images": [{"id": "src", "format": "raw", "size": 65536, "options": [],
                        "content": []}],
            "steps": [{"actor": "tool", "operation": "info", "command": "info",
                       "intent": "valid", "arguments": [)"
        << arguments << R"({"value": {"image": "src"}}]}]}})";
}

TEST(Probe, RunsWhatTheNamesSelectAndSaysWhatItCameTo) {
    const ScratchDirectory scratch;
    const fs::path tool = crashing_tool(scratch);
    write_probe(scratch, "plain.json", "", "{}");
    write_probe(scratch, "deep/chain.json", R"({"option": "--backing-chain"},)", "{}");
    write_probe(scratch, "deep/open.json", R"({"option": "--output", "value": {"draw": "as"}},)",
                R"({"as": {"of": ["json", "human"]}})");
    const Ended all = probe(scratch, {"--subject", tool, "-n", "3", "--recipes", "kept"});
    EXPECT_EQ(all.code, 1) << all.out << all.err;
    EXPECT_THAT(all.out,
                AllOf(HasSubstr("plain: agrees; compared: "), HasSubstr(", text"),
                      HasSubstr("deep/chain: diverges: info_crash_divergence (crash) at step 0"),
                      HasSubstr("deep/open: 3 of 3 (from --case 0) agrees"),
                      HasSubstr("3 probes, 1 with divergences, 0 without a verdict")));
    EXPECT_EQ(lines(all.out), 4U);
    // What diverged was kept, and is a case that others run, too.
    EXPECT_EQ(difffuzz(scratch, {"repro", "kept/deep-chain.json", "--subject", tool, "--reference",
                                 "/usr/bin/qemu-img"})
                  .code,
              0);
    // The expression is found anywhere in a name.
    const Ended some = probe(scratch, {"--subject", tool, "--filter-name", "lai|n$"});
    EXPECT_EQ(some.code, 1) << some.out;
    const Ended one = probe(scratch, {"--subject", tool, "--filter-name", "^pl"});
    EXPECT_EQ(one.code, 0) << one.out << one.err;
    EXPECT_THAT(one.out, AllOf(HasSubstr("1 probe, 0 with"), Not(HasSubstr("chain"))));
}

TEST(Probe, RefusesWhatCannotBeUsedBeforeAnythingRuns) {
    const ScratchDirectory scratch;
    write_probe(scratch, "plain.json", "", "{}");
    const auto refused = [&](std::vector<std::string> words) {
        words.insert(words.end(), {"--subject", "/usr/bin/qemu-img"});
        const Ended ended = probe(scratch, words);
        EXPECT_EQ(ended.code, 2) << ended.out;
        EXPECT_EQ(ended.out, "");
        return ended.err;
    };
    EXPECT_THAT(refused({"--filter-name", "("}), HasSubstr("no extended regular expression"));
    EXPECT_THAT(refused({"--filter-name", "zz"}), HasSubstr("matches no probe below 'probes'"));
    write_probe(scratch, "wrong.json", R"({"option": "--output", "value": {"draw": "x"}},)", "{}");
    EXPECT_THAT(refused({}), AllOf(HasSubstr("'probes/wrong.json'"),
                                   HasSubstr("/recipe/steps/0/arguments/0/value/draw: names 'x'")));
}

TEST(Recipe, NewIsAProbeThatRunsAsItIs) {
    const ScratchDirectory scratch;
    fs::create_directory(scratch.path() / "probes");
    const Ended made =
        difffuzz(scratch, {"recipe", "new", "create", "--out", "probes/create.json"});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(probe(scratch, {"--subject", "/usr/bin/qemu-img"}).code, 0);
    // Nothing is overwritten, and a misspelt operation gets a suggestion.
    EXPECT_EQ(difffuzz(scratch, {"recipe", "new", "info", "--out", "probes/create.json"}).code, 2);
    const Ended misspelt = difffuzz(scratch, {"recipe", "new", "conver"});
    EXPECT_EQ(misspelt.code, 2);
    EXPECT_THAT(misspelt.err, HasSubstr("did you mean 'convert'"));
    EXPECT_EQ(difffuzz(scratch, {"recipe", "old", "info"}).code, 2);
}

}  // namespace
}  // namespace difffuzz::test

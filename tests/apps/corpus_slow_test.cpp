// promote and replay as a user runs them, and the corpus of this repository.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

const std::string reference = "/usr/bin/qemu-img";

fs::path crashing_tool(const ScratchDirectory& scratch) {
    const fs::path tool = scratch.path() / "bad_tool-crash";
    fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", tool);
    return tool;
}

// info of two images with more in it than the fault of the tool needs.
const char* const recipe = R"({
    "schema": "difffuzz.recipe/1", "operation": "info", "outputs": [],
    "images": [{"id": "base", "format": "raw", "size": 65536, "options": [], "content": []},
               {"id": "src", "format": "qcow2", "size": 1048576, "options": [], "backing": "base",
                "content": [{"kind": "write", "offset": 0, "length": 512, "fill": {"byte": 1}}]}],
    "steps": [{"actor": "tool", "operation": "info", "command": "info", "intent": "valid",
               "arguments": [{"option": "--output", "value": "json"},
                             {"option": "--backing-chain"}, {"value": {"image": "src"}}]}]})";

fs::path only_entry(const ScratchDirectory& scratch) {
    for (const auto& entry : fs::directory_iterator(scratch.path() / "corpus")) {
        return entry.path();
    }
    return {};
}

TEST(Promote, ShrinksAndKeepsAFindThatReplayHoldsAgainstBothTools) {
    const ScratchDirectory scratch;
    const fs::path tool = crashing_tool(scratch);
    fs::create_directory(scratch.path() / "corpus");
    std::ofstream(scratch.path() / "recipe.json") << recipe;
    const auto promote = [&](const std::string& subject, std::vector<std::string> more) {
        std::vector<std::string> words{"promote", "recipe.json", "corpus",  "--subject",
                                       subject,   "--reference", reference, "--jobs",
                                       "1",       "--no-config"};
        words.insert(words.end(), more.begin(), more.end());
        return difffuzz(scratch, words);
    };
    // Nobody is at a terminal here.
    const Ended nobody = promote(tool, {});
    EXPECT_EQ(nobody.code, 2);
    EXPECT_THAT(nobody.err, HasSubstr("needs a person"));
    const Ended made = promote(tool, {"--by", "a tester"});
    ASSERT_EQ(made.code, 0) << made.out << made.err;
    EXPECT_THAT(made.out, HasSubstr("open: diverges: info_crash_divergence"));
    const json entry = json::parse(read_file(only_entry(scratch)));
    EXPECT_EQ(entry.at("state"), "open");
    EXPECT_EQ(entry.at("promoted_by"), "a tester");
    EXPECT_EQ(entry.at("recipe").at("images").size(), 1U);
    EXPECT_EQ(entry.at("recipe").at("steps")[0].at("arguments").size(), 2U);
    // Nothing is overwritten.
    EXPECT_EQ(promote(tool, {"--by", "a tester"}).code, 2);

    const auto replay = [&](std::vector<std::string> more) {
        std::vector<std::string> words{"replay", "corpus", "--jobs", "1", "--no-config"};
        words.insert(words.end(), more.begin(), more.end());
        return difffuzz(scratch, words);
    };
    const Ended green = replay({"--subject", tool, "--reference", reference});
    EXPECT_EQ(green.code, 0) << green.out << green.err;
    EXPECT_THAT(green.out, AllOf(HasSubstr("replay green: 1 holds"), HasSubstr("no case is drawn"),
                                 Not(HasSubstr("campaign"))));
    const Ended gone = replay({"--subject", reference, "--reference", reference});
    EXPECT_EQ(gone.code, 1) << gone.out;
    EXPECT_THAT(gone.out, AllOf(HasSubstr("gone"), HasSubstr("replay red: 0 hold")));
    // Against what was recorded, without a reference.
    const Ended recorded = replay({"--subject", tool, "--recorded-reference"});
    EXPECT_EQ(recorded.code, 0) << recorded.out << recorded.err;
    EXPECT_EQ(replay({"--subject", reference, "--recorded-reference"}).code, 1);
    EXPECT_EQ(replay({"--subject", tool, "--reference", reference, "--recorded-reference"}).code,
              2);
    // Mended and closed, it is red when it returns.
    json closed = entry;
    closed["state"] = "closed";
    std::ofstream(only_entry(scratch)) << closed.dump();
    EXPECT_EQ(replay({"--subject", reference, "--reference", reference}).code, 0);
    const Ended returned = replay({"--subject", tool, "--reference", reference});
    EXPECT_EQ(returned.code, 1);
    EXPECT_THAT(returned.out, HasSubstr("returned"));
}

TEST(Corpus, OfThisRepositoryHolds) {
    const char* const second = std::getenv("DIFFFUZZ_TEST_SECOND_QEMU");
    if (second == nullptr) {
        GTEST_SKIP() << "needs a second qemu-img";
    }
    const ScratchDirectory scratch;
    const std::string corpus = std::string(DIFFFUZZ_SOURCE_DIR) + "/tests/corpus";
    const Ended ended = difffuzz(
        scratch, {"replay", corpus, "--subject", reference, "--reference", second, "--no-config"});
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, Not(HasSubstr("not asked")));
    // As far as that goes, without the second.
    const Ended recorded = difffuzz(
        scratch, {"replay", corpus, "--subject", reference, "--recorded-reference", "--no-config"});
    EXPECT_EQ(recorded.code, 0) << recorded.out << recorded.err;
}

TEST(Corpus, FilesOfEachAreValidAndTracked) {
    const ScratchDirectory scratch;
    const std::string source = DIFFFUZZ_SOURCE_DIR;
    const Outcome checked =
        run_tool(scratch.path(), {source + "/tests/scripts/validate_corpora.py", source});
    EXPECT_EQ(checked.ending, Ending{Exited{0}}) << checked.out.head << checked.err.head;
}

}  // namespace
}  // namespace difffuzz::test

// Entries as users may write them: what is wrong is said with file, line and reason.
#include "known_divergences/entry_file.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/errors.hpp"
#include "known_divergences/registry.hpp"
#include "support/run_tool.hpp"
#include "tests/known_divergences/entry_text.hpp"

namespace difffuzz::test {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text, const std::string& name = "known/sample.toml") {
    try {
        parse_entry(name, text);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(EntryFile, SaysAllThatAnEntryIs) {
    const KnownDivergence entry = parse_entry("known/sample.toml", entry_text());
    EXPECT_EQ(entry.id, "sample");
    EXPECT_EQ(entry.operations, std::vector<std::string>{"info"});
    EXPECT_EQ(entry.date, "2026-11-30");
    EXPECT_EQ(entry.review_by, "2027-11-30");
    EXPECT_TRUE(entry.either_way);
    EXPECT_TRUE(entry.steers);
    EXPECT_EQ(entry.predicate_place.line, 8U);
    EXPECT_EQ(entry.exhibit, "{}\n");
    ASSERT_EQ(entry.effects.size(), 1U);
    EXPECT_EQ(entry.effects[0], (Effect{LayerId::json, Direction::differ, "succeeded", "succeeded",
                                        "-children", "", ""}));
}

struct Wrong {
    std::string from;
    std::string to;
    unsigned line;
    std::string reason;
};

TEST(EntryFile, IsRefusedWithFileLineAndReason) {
    for (const Wrong& wrong : std::vector<Wrong>{
             {"reason = \"it", "reasons = \"it", 1, "'reason' is missing"},
             {"either_way = true", "either_way = true\nshy = 1", 10, "'shy' is not known"},
             {"either_way = true", "either_way = \"yes\"", 9, "'either_way' must be true or false"},
             {"reason = \"it prints more\"", "reason = \"\"", 3, "'reason' must not be empty"},
             {"reason = \"it prints more\"", "reason = 7", 3, "'reason' must be text"},
             {"[\"info\"]", "[]", 2, "'operations' must be an array"},
             {"[\"info\"]", "[3]", 2, "'operations' must be text"},
             {"2026-11-30", "\"today\"", 6, "'date' must be a date"},
             {"2027-11-30", "2025-11-30", 7, "'review_by' lies before 'date'"},
             {">=10.0", "10", 17, "'versions' must be bounds"},
             {"layer = \"json\"", "layer = \"yaml\"", 20, "'layer' is not the name of a layer"},
             {"\"differ\"", "\"up\"", 21, "'direction' is not the name of a direction"},
             {"\"succeeded\"", "\"fine\"", 22, "must be an outcome class"},
             {"field =", "fields =", 24, "'effect.fields' is not known"},
             {"[[effect]]", "[effect]", 19, "'effect' must be an array of 1 to 64"},
             {"either_way = true", "steer = false", 9, "needs a reason in 'wide'"},
             {"either_way = true", "agreeing_percent = 5", 9, "needs a reason in 'wide'"},
             {"either_way = true", "wide = \"w\"\nagreeing_percent = 101", 10, "from 0 to 100"},
             {"id = \"sample\"", "id = \"other\"", 1, "must be the file's name"},
             {"[subject]", "[subject", 11, ""},
             {"\"qemu-img\"", "\"qemu-img\"\ntool = \"x\"", 13, ""}}) {
        const std::string text = with(entry_text(), wrong.from, wrong.to);
        ASSERT_NE(text, entry_text()) << wrong.from;
        EXPECT_THAT(refusal(text),
                    testing::StartsWith("'known/sample.toml', line " + std::to_string(wrong.line) +
                                        ": known divergence 'sample': "))
            << wrong.to;
        EXPECT_THAT(refusal(text), HasSubstr(wrong.reason));
    }
    EXPECT_THAT(refusal(std::string(max_entry_bytes + 1, ' ')), HasSubstr("bytes"));
}

// Each of these would use up the stack of the parser, or of what frees its tables.
TEST(EntryFile, DeepNestingIsRefusedBeforeItIsParsed) {
    const auto repeated = [](std::string_view unit) {
        std::string text;
        for (std::size_t i = 0; i < 60'000; ++i) {
            text += unit;
        }
        return text;
    };
    const std::string dots = repeated(".a");
    const std::string before = "# a.\"comment\nx = \"\"\"b\\\"\"\"\"\"\ny = '''c'''''\n";
    for (const std::string& bad :
         {"a" + dots + " = 1", "[a" + dots + "]\n", "[[a" + dots + "]]\n",
          "a" + repeated(" . 'b' . \"c\"") + " = 1", "a = {a" + dots + " = 1}",
          "a = " + repeated("["), "a = " + repeated("{a=")}) {
        EXPECT_THAT(refusal(before + bad),
                    testing::StartsWith("'known/sample.toml', line 4: known "
                                        "divergence 'sample': keys may have"))
            << bad.substr(0, 20);
    }
    // Dots of text, of comments and of one key after the other nest nothing.
    EXPECT_EQ(refusal("# " + dots.substr(0, 200) + "\n" +
                      with(entry_text(), "it prints more", dots.substr(0, 200))),
              "accepted");
    std::string flat;
    for (int i = 0; i < 50; ++i) {
        flat += "k" + std::to_string(i) + ".a = [1.5, 2.5, [3.5]]\n";
    }
    EXPECT_THAT(refusal(flat), HasSubstr("'id' is missing"));
}

TEST(Registry, ReadsTheEntriesOfADirectory) {
    const ScratchDirectory scratch;
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream(scratch.path() / name) << text;
    };
    const auto refused = [&] {
        try {
            make_registry(read_entry_files(scratch.path()));
        } catch (const UsageError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(refused(), HasSubstr("it must hold 1 to 1024 .toml files"));
    write("sample.toml", entry_text());
    write("README", "no entry");
    EXPECT_EQ(refused(), "accepted");
    const std::vector<EntryFile> files = read_entry_files(scratch.path());
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].text, entry_text());
    // The same entry twice, from two directories.
    try {
        make_registry({{"a/sample.toml", entry_text()}, {"b/sample.toml", entry_text()}});
        ADD_FAILURE() << "accepted";
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(),
                    testing::AllOf(HasSubstr("'b/sample.toml', line 1"), HasSubstr("the same id")));
    }
    std::filesystem::create_directory(scratch.path() / "dir.toml");
    EXPECT_THAT(refused(), HasSubstr("dir.toml' is not a regular file"));
    try {
        read_entry_files(scratch.path() / "nowhere");
        ADD_FAILURE() << "accepted";
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("No such file"));
    }
}

TEST(Registry, ItsDigestIsAboutContentsAndNotAboutPlaces) {
    const std::string other = with(entry_text(), "\"sample\"", "\"other\"");
    EXPECT_EQ(registry_digest({}), "");
    EXPECT_EQ(registry_digest({{"a", entry_text()}, {"b", other}}),
              registry_digest({{"z/b", other}, {"y/a", entry_text()}}));
    EXPECT_NE(registry_digest({{"a", entry_text()}}), registry_digest({{"a", other}}));
}

}  // namespace
}  // namespace difffuzz::test

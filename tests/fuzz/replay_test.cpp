// The committed corpora, replayed with what the fuzzers run, and held to what a corpus must be.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/seed_files.hpp"
#include "tests/support/run_tool.hpp"

namespace difffuzz::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path root = fs::path(DIFFFUZZ_SOURCE_DIR);
const fs::path corpora = root / "tests/fuzz/corpus";

std::set<std::string> names_in(const fs::path& directory) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) {
        names.insert(entry.path().filename().string());
    }
    return names;
}

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool is_find(const std::string& name) { return name >= seed_file(first_find); }

std::set<std::string> target_names() {
    std::set<std::string> names;
    for (const Target& target : targets()) {
        names.emplace(target.name);
    }
    return names;
}

class Replay : public testing::TestWithParam<Target> {
protected:
    fs::path corpus() const { return corpora / GetParam().name; }
};

TEST_P(Replay, OfTheCorpusBreaksNoInvariant) {
    for (const std::string& name : names_in(corpus())) {
        try {
            GetParam().run(bytes_of(corpus() / name));
        } catch (const std::exception& error) {
            ADD_FAILURE() << GetParam().name << "/" << name << ": " << error.what();
        }
    }
}

TEST_P(Replay, OfMadeSeedsEndsAsTheyAreMeantTo) {
    const std::vector<Seed> seeds = GetParam().seeds();
    std::set<Verdict> verdicts;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        EXPECT_EQ(GetParam().run(seeds[i].bytes), seeds[i].expected) << seed_file(i);
        verdicts.insert(seeds[i].expected);
    }
    // Any bytes are a raw image.
    EXPECT_EQ(verdicts.size(), GetParam().name == "image_reader_raw" ? 1U : 2U);
}

TEST_P(Replay, CorpusHoldsTheMadeSeedsAndFinds) {
    const std::vector<Seed> seeds = GetParam().seeds();
    ASSERT_LT(seeds.size(), first_find);
    ASSERT_FALSE(seeds.empty());
    std::size_t made = 0;
    for (const std::string& name : names_in(corpus())) {
        const fs::path path = corpus() / name;
        EXPECT_EQ(fs::symlink_status(path).type(), fs::file_type::regular) << path;
        EXPECT_LE(fs::file_size(path), max_input_bytes) << path;
        EXPECT_THAT(name, testing::MatchesRegex("seed-[0-9][0-9][0-9]"));
        made += is_find(name) ? 0U : 1U;
    }
    EXPECT_EQ(made, seeds.size()) << "build/PRESET/bin/write_seeds tests/fuzz/corpus adds new ones";
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        EXPECT_EQ(bytes_of(corpus() / seed_file(i)), seeds[i].bytes) << seed_file(i);
    }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Replay, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Corpora, BelongToTargetsAndTargetsToFiles) {
    EXPECT_EQ(names_in(corpora), target_names());
    std::set<std::string> files;
    for (const std::string& name : names_in(root / "tests/fuzz/targets")) {
        files.insert(fs::path(name).stem().string());
    }
    EXPECT_EQ(files, target_names());
}

// An ignored or forgotten file would be missing for everybody else.
TEST(Corpora, AreTrackedFileByFile) {
    if (!fs::exists(root / ".git")) {
        GTEST_SKIP() << "the source tree is no git checkout";
    }
    const Outcome listed = test::run_tool(
        root, {"git", "-c", "safe.directory=*", "ls-files", "--", "tests/fuzz/corpus"});
    ASSERT_EQ(listed.ending, Ending{Exited{0}}) << listed.err.head;
    for (const std::string& target : names_in(corpora)) {
        for (const std::string& name : names_in(corpora / target)) {
            EXPECT_NE(listed.out.head.find("tests/fuzz/corpus/" + target + "/" + name + "\n"),
                      std::string::npos)
                << target << "/" << name << " is not tracked by git";
        }
    }
}

// The encodings of inputs that are no files of a format, byte by byte.
TEST(Seeds, AreEncodedAsTheTargetsSay) {
    const auto first = [](const Target* target) { return target->seeds().front().bytes; };
    EXPECT_EQ(first(find_target("bench_schedule")), std::string("\x64\0\0\0"
                                                                "\x08\0\0\0"
                                                                "\0\x10\0\0\0\0\0\0"
                                                                "\0\0\0\0\0\0\0\0"
                                                                "\0\x02\0\0\0\0\0\0"
                                                                "\x10\0\0\0"
                                                                "\x01"
                                                                "\xA5"
                                                                "\0\0\x40\0\0\0\0\0",
                                                                46));
    EXPECT_EQ(first(find_target("bounded_capture")), std::string("\x08\0\x04"
                                                                 "0123"
                                                                 "\x04"
                                                                 "4567",
                                                                 12));
    EXPECT_EQ(first(find_target("header_line")),
              std::string("\0\x12\0image: a.raw\nmore\nimage: a.raw\n", 34));
}

TEST(Targets, AreListedByTheScript) {
    std::string expected;
    for (const Target& target : targets()) {
        expected += std::string(target.name) + " " + std::string(to_string(target.tier)) + "\n";
    }
    const Outcome listed = test::run_tool(root, {"scripts/fuzz", "--list"});
    ASSERT_EQ(listed.ending, Ending{Exited{0}}) << listed.err.head;
    EXPECT_EQ(listed.out.head, expected);
}

TEST(MemoryMeter, SeesWhatIsTakenAndGivenBack) {
    const MemoryMeter meter;
    auto taken = std::make_unique<std::string>(std::size_t{1} << 20, 'm');
    EXPECT_GE(meter.held(), std::size_t{1} << 20);
    taken.reset();
    EXPECT_LT(meter.held(), 1000U);
    EXPECT_GE(meter.peak(), std::size_t{1} << 20);
    EXPECT_LT(meter.peak(), std::size_t{3} << 20);
}

}  // namespace
}  // namespace difffuzz::fuzz

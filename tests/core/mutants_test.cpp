// The mutants of tests/mutants/mutants.txt fit the tree as it is; scripts/mutants runs them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

const fs::path root = DIFFFUZZ_SOURCE_DIR;

using Mutant = std::map<std::string, std::string>;

std::vector<std::string> lines_of(const fs::path& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string trimmed(const std::string& line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    return begin == std::string::npos
               ? ""
               : line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

std::vector<Mutant> mutants() {
    std::vector<Mutant> found;
    bool inside = false;
    for (const std::string& line : lines_of(root / "tests/mutants/mutants.txt")) {
        const std::size_t colon = line.find(": ");
        if (line.empty() || line.front() == '#') {
            inside = false;
            continue;
        }
        if (!inside) {
            found.emplace_back();
        }
        inside = true;
        found.back()[line.substr(0, colon)] =
            colon == std::string::npos ? "" : line.substr(colon + 2);
    }
    return found;
}

TEST(Mutants, AreNamedOnceAndSayAllThatTheyAre) {
    std::set<std::string> names;
    for (const Mutant& mutant : mutants()) {
        std::vector<std::string> fields;
        for (const auto& [field, value] : mutant) {
            EXPECT_FALSE(value.empty()) << field;
            fields.push_back(field);
        }
        EXPECT_EQ(fields,
                  (std::vector<std::string>{"becomes", "file", "filter", "line", "name", "tests"}));
        EXPECT_TRUE(names.insert(mutant.at("name")).second) << mutant.at("name");
    }
    EXPECT_GE(names.size(), 40U);
}

TEST(Mutants, ChangeALineThatStandsOnceInItsFile) {
    for (const Mutant& mutant : mutants()) {
        const std::vector<std::string> lines = lines_of(root / mutant.at("file"));
        const auto count = std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
            return trimmed(line) == mutant.at("line");
        });
        EXPECT_EQ(count, 1) << mutant.at("name") << ": " << mutant.at("line");
        EXPECT_NE(mutant.at("line"), mutant.at("becomes")) << mutant.at("name");
    }
}

TEST(Mutants, NameATestProgramThatThereIs) {
    for (const Mutant& mutant : mutants()) {
        const std::string tests = mutant.at("tests");
        const std::size_t end = tests.find("_fast_tests");
        ASSERT_NE(end, std::string::npos) << tests;
        EXPECT_TRUE(fs::is_directory(root / "tests" / tests.substr(0, end))) << tests;
    }
}

}  // namespace

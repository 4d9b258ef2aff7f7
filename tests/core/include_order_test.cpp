// A folder may use those above it in tests/data/folder_order.txt, and no other.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders() {
    std::ifstream file(std::string(DIFFFUZZ_SOURCE_DIR) + "/tests/data/folder_order.txt");
    std::vector<std::string> names;
    for (std::string name; std::getline(file, name);) {
        names.push_back(name);
    }
    return names;
}

// The folders that a source text includes from, in order.
std::vector<std::string> included_folders(const std::string& text) {
    static const std::regex include(R"(^\s*#\s*include\s*"([a-z_]+)/)", std::regex::multiline);
    std::vector<std::string> result;
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
        result.push_back((*it)[1]);
    }
    return result;
}

// The includes of `folder` that its place in the order forbids.
std::vector<std::string> forbidden(const std::string& folder, const std::string& text,
                                   const std::vector<std::string>& order) {
    const auto own = std::find(order.begin(), order.end(), folder);
    std::vector<std::string> result;
    for (const std::string& used : included_folders(text)) {
        const auto place = std::find(order.begin(), order.end(), used);
        if (place == order.end() || place > own) {
            result.push_back(used);
        }
    }
    return result;
}

TEST(IncludeOrder, SeesWhatIsForbidden) {
    const std::vector<std::string> order = folders();
    EXPECT_EQ(forbidden("images", "#include \"core/cases/case.hpp\"\n", order).size(), 0U);
    EXPECT_EQ(forbidden("images", "#include \"ops/operation.hpp\"\n", order),
              std::vector<std::string>{"ops"});
    EXPECT_EQ(forbidden("core", " #  include \"campaign/tally.hpp\"\n", order),
              std::vector<std::string>{"campaign"});
}

TEST(IncludeOrder, HoldsForEveryFile) {
    const std::vector<std::string> order = folders();
    ASSERT_EQ(order.size(), 9U);
    std::size_t files = 0;
    for (const std::string& folder : order) {
        const fs::path root = fs::path(DIFFFUZZ_SOURCE_DIR) / folder;
        if (!fs::exists(root)) {
            continue;
        }
        for (const auto& entry : fs::recursive_directory_iterator(root)) {
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") {
                continue;
            }
            std::ifstream file(entry.path());
            const std::string text((std::istreambuf_iterator<char>(file)),
                                   std::istreambuf_iterator<char>());
            ++files;
            for (const std::string& used : forbidden(folder, text, order)) {
                ADD_FAILURE() << entry.path() << " includes from " << used;
            }
        }
    }
    EXPECT_GT(files, 100U);
}

}  // namespace

// docs/inventory.md says something of every operation and layer, and names evidence that exists.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/canary/fault.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;

const fs::path root = DIFFFUZZ_SOURCE_DIR;

struct InventoryRow {
    std::string layer;
    // operation, normal, boundary, negative control, what remains
    std::vector<std::string> cells;
};

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<InventoryRow> inventory() {
    std::vector<InventoryRow> rows;
    std::istringstream lines(text_of(root / "docs/inventory.md"));
    std::string layer;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("## ")) {
            layer = line.substr(3);
        } else if (line.starts_with("| ") && !line.starts_with("| operation |")) {
            InventoryRow row{layer, {}};
            std::istringstream cells(line.substr(2));
            for (std::string cell; std::getline(cells, cell, '|');) {
                row.cells.push_back(cell.substr(0, cell.find_last_not_of(' ') + 1));
                row.cells.back().erase(0, row.cells.back().find_first_not_of(' '));
            }
            rows.push_back(row);
        }
    }
    return rows;
}

std::vector<std::string> quoted(const std::string& text) {
    static const std::regex name("`([^`]+)`");
    std::vector<std::string> names;
    for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) {
        names.push_back((*it)[1]);
    }
    return names;
}

// "Suite.Name" of all tests in tests/.
std::set<std::string> all_tests() {
    static const std::regex test(R"(^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))", std::regex::multiline);
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
        if (entry.path().extension() != ".cpp") {
            continue;
        }
        const std::string text = text_of(entry.path());
        for (std::sregex_iterator it(text.begin(), text.end(), test), end; it != end; ++it) {
            names.insert((*it)[1].str() + "." + (*it)[2].str());
        }
    }
    return names;
}

bool is_test(const std::string& name) { return name.find('.') != std::string::npos; }

using Pair = std::pair<std::string, std::string>;

TEST(Inventory, HasARowForEveryOperationAndLayer) {
    std::multiset<Pair> listed;
    for (const InventoryRow& row : inventory()) {
        ASSERT_EQ(row.cells.size(), 5U) << row.layer << " " << row.cells.front();
        for (const std::string& cell : row.cells) {
            EXPECT_FALSE(cell.empty()) << row.layer << " " << row.cells.front();
        }
        if (row.cells.front() != "all") {
            listed.emplace(row.cells.front(), row.layer);
            continue;
        }
        for (const Operation* operation : operations()) {
            listed.emplace(operation->name, row.layer);
        }
    }
    std::multiset<Pair> expected;
    for (const Operation* operation : operations()) {
        for (const LayerUse& use : operation->layers) {
            expected.emplace(operation->name, to_string(use.id));
        }
    }
    EXPECT_EQ(listed, expected);
}

TEST(Inventory, NamesTestsThatExist) {
    const std::set<std::string> tests = all_tests();
    ASSERT_GT(tests.size(), 300U);
    for (const InventoryRow& row : inventory()) {
        for (std::size_t column = 1; column <= 3; ++column) {
            const std::vector<std::string> names = quoted(row.cells.at(column));
            EXPECT_FALSE(names.empty()) << row.layer << " " << row.cells.front();
            for (const std::string& name : names) {
                EXPECT_TRUE(column == 3 || is_test(name)) << name;
                EXPECT_TRUE(!is_test(name) || tests.contains(name)) << name;
            }
        }
    }
    const std::string text = text_of(root / "docs/inventory.md");
    for (const std::string& name : quoted(text)) {
        static const std::regex test(R"([A-Z]\w+\.[A-Z]\w+)");
        EXPECT_TRUE(!std::regex_match(name, test) || tests.contains(name)) << name;
    }
}

TEST(Inventory, NamesFaultsOfTheLayerAndTheOperation) {
    for (const InventoryRow& row : inventory()) {
        const std::string& cell = row.cells.at(3);
        for (const std::string& name : quoted(cell)) {
            if (is_test(name)) {
                continue;
            }
            const canary::Fault* fault = canary::find_fault(name);
            ASSERT_NE(fault, nullptr) << name;
            EXPECT_EQ(to_string(fault->layer), row.layer) << name;
            // In brackets it is another operation's.
            EXPECT_EQ(fault->operation == row.cells.front(), !cell.starts_with('(')) << name;
        }
    }
}

}  // namespace
}  // namespace difffuzz

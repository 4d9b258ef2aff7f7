// The list of documented options is what the program prints.
#include <regex>

#include <gtest/gtest.h>

#include "tests/support/documented_options.hpp"
#include "tests/support/run_tool.hpp"

namespace difffuzz {
namespace {

TEST(DocumentedOptions, AreThoseOfTheProgram) {
    const test::ScratchDirectory directory;
    const std::string version =
        test::run_tool(directory.path(), {"qemu-img", "--version"}).out.head;
    if (version.find(" 7.2") == std::string::npos) {
        GTEST_SKIP() << "the list is of version 7.2, this is " << version;
    }
    const std::string help = test::run_tool(directory.path(), {"qemu-img", "--help"}).out.head;
    static const std::regex command(R"(\n  ([a-z]+) ([^\n]*(filename|if=)[^\n]*))");
    static const std::regex option(R"((?:^|[ \[(|])(--?[A-Za-z][A-Za-z-]*))");
    static const std::regex operand(R"((?:^|[ \[])([a-z]+)=)");
    std::map<std::string, std::set<std::string>> commands;
    for (auto it = std::sregex_iterator(help.begin(), help.end(), command);
         it != std::sregex_iterator(); ++it) {
        const std::string words = (*it)[2];
        for (const std::regex* pattern : {&option, &operand}) {
            for (auto word = std::sregex_iterator(words.begin(), words.end(), *pattern);
                 word != std::sregex_iterator(); ++word) {
                commands[(*it)[1]].insert((*word)[1]);
            }
        }
    }
    EXPECT_EQ(commands, test::documented_options());
}

}  // namespace
}  // namespace difffuzz

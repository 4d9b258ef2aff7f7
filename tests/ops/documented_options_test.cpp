// Every option that qemu-img 7.2 documents is drawn, or listed with one of a few reasons.
#include <gtest/gtest.h>

#include "ops/reach.hpp"
#include "tests/support/documented_options.hpp"

namespace difffuzz {
namespace {

// Why an option may be left out of all operations that use its command.
const std::set<std::string_view> reasons{"needs a device", "needs a network", "names protocols",
                                         "asks for a password", "no effect on files or output"};

bool is_drawn(const std::string& command, const std::string& option) {
    for (const Operation* operation : operations()) {
        if (operation->picker->command != command) {
            continue;
        }
        Plan plan = default_plan();
        plan.operations = {{std::string(operation->name), 1}};
        const OperationReach& reach = reach_of(plan).operations().front();
        if (std::ranges::binary_search(reach.options, option)) {
            return true;
        }
    }
    return false;
}

bool is_listed(const std::string& command, const std::string& option) {
    for (const Operation* operation : operations()) {
        if (operation->picker->command != command) {
            continue;
        }
        for (const LeftOut& out : operation->picker->left_out) {
            if (out.option == option && reasons.contains(out.reason)) {
                return true;
            }
        }
    }
    return false;
}

TEST(DocumentedOptions, AreDrawnOrListedWithAReason) {
    const auto commands = test::documented_options();
    ASSERT_EQ(commands.size(), 15U);
    std::size_t all = 0;
    std::size_t listed = 0;
    for (const auto& [command, options] : commands) {
        for (const std::string& option : options) {
            ++all;
            if (is_drawn(command, option)) {
                continue;
            }
            ++listed;
            EXPECT_TRUE(is_listed(command, option)) << command << ' ' << option;
        }
    }
    EXPECT_GT(all, 140U);
    EXPECT_LE(10 * listed, all) << listed << " of " << all << " are listed, not drawn";
}

}  // namespace
}  // namespace difffuzz

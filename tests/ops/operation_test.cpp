#include "ops/operation.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace difffuzz {
namespace {

using testing::HasSubstr;

// The tests speak of whatever the table holds.
std::string_view name_at(std::size_t i) { return operations().at(i)->name; }

std::string message_of(std::string_view text) {
    try {
        parse_operations(text);
    } catch (const UsageError& error) {
        return error.what();
    }
    return {};
}

std::vector<std::string> names_of(const std::vector<OperationWeight>& chosen) {
    std::vector<std::string> names;
    for (const OperationWeight& operation : chosen) {
        names.push_back(operation.name);
    }
    return names;
}

TEST(Operations, HaveNamesAndDeclareEverything) {
    std::set<std::string_view> names;
    for (const Operation* operation : operations()) {
        EXPECT_TRUE(names.insert(operation->name).second) << operation->name;
        EXPECT_EQ(find_operation(operation->name), operation);
        EXPECT_FALSE(operation->summary.empty());
        EXPECT_GT(operation->weight, 0U);
        EXPECT_EQ(operation->picker->operation, operation->name);
        EXPECT_TRUE(std::ranges::is_sorted(operation->layers, {}, &LayerUse::id));
        EXPECT_NE(operation->cost, nullptr);
        EXPECT_NE(operation->inspections, nullptr);
        EXPECT_NE(operation->may_change, nullptr);
        EXPECT_NE(operation->bytes_stable, nullptr);
    }
    EXPECT_EQ(find_operation("no-such"), nullptr);
}

TEST(ParseOperations, TakesNamesAndWeightsInTheTablesOrder) {
    const std::string text = std::string(name_at(1)) + "=7," + std::string(name_at(0));
    const auto chosen = parse_operations(text);
    ASSERT_EQ(chosen.size(), 2U);
    EXPECT_EQ(chosen[0].name, name_at(0));
    EXPECT_EQ(chosen[0].weight, operations()[0]->weight);
    EXPECT_EQ(chosen[1].name, name_at(1));
    EXPECT_EQ(chosen[1].weight, 7U);
}

TEST(ParseOperations, AMinusLeavesOneOut) {
    const auto chosen = names_of(parse_operations("-" + std::string(name_at(0))));
    EXPECT_EQ(chosen.size(), operations().size() - 1);
    EXPECT_THAT(chosen, testing::Not(testing::Contains(std::string(name_at(0)))));
    const auto one = parse_operations(std::string(name_at(0)) + "," + std::string(name_at(1)) +
                                      ",-" + std::string(name_at(0)));
    EXPECT_THAT(names_of(one), testing::ElementsAre(std::string(name_at(1))));
}

TEST(ParseOperations, SaysWhatIsWrong) {
    const std::string first(name_at(0));
    EXPECT_THAT(message_of(first + "x"), HasSubstr("there is no operation '" + first + "x'"));
    EXPECT_THAT(message_of(first + "x"), HasSubstr(first + "'"));
    EXPECT_THAT(message_of("-zzzz"), HasSubstr("'zzzz'"));
    EXPECT_THAT(message_of(""), HasSubstr("there is no operation ''"));
    EXPECT_THAT(message_of(first + ",,"), HasSubstr("there is no operation ''"));
    EXPECT_THAT(message_of(first + "," + first), HasSubstr("twice"));
    EXPECT_THAT(message_of("-" + first + "," + first), HasSubstr("leaves no operation"));
    for (const char* weight :
         {"=0", "=1001", "=", "=x", "=3x", "=-1", "=+3", "=03", "=99999999999"}) {
        EXPECT_THAT(message_of(first + weight), HasSubstr("from 1 to 1000")) << weight;
    }
    EXPECT_EQ(message_of(first + "=1000"), "");
}

TEST(CheckPlan, RefusesPlansThatLeaveNothingToDraw) {
    EXPECT_NO_THROW(check_plan(default_plan()));
    const auto broken = [](auto change) {
        Plan plan = default_plan();
        change(plan);
        EXPECT_THROW(check_plan(plan), UsageError);
    };
    broken([](Plan& plan) { plan.operations.clear(); });
    broken([](Plan& plan) { plan.operations.push_back({"no-such", 1}); });
    broken([](Plan& plan) { std::erase(plan.formats, "raw"); });
    broken([](Plan& plan) { std::erase(plan.formats, "qcow2"); });
    broken([](Plan& plan) { plan.formats.push_back("qcow9"); });
}

TEST(DrawCase, IsAFunctionOfItsArguments) {
    const Plan plan = default_plan();
    for (std::uint64_t i = 0; i < 200; ++i) {
        const Case c = draw_case(plan, 42, i, 0);
        ASSERT_EQ(c, draw_case(plan, 42, i, 0)) << i;
        EXPECT_NE(c, draw_case(plan, 43, i, 0)) << i;
        EXPECT_NE(c, draw_case(plan, 42, i, 1)) << i;
    }
}

TEST(DrawCase, FollowsTheWeightsOfThePlan) {
    Plan plan = default_plan();
    plan.operations = {{std::string(name_at(0)), 1}, {std::string(name_at(1)), 3}};
    unsigned first = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        // Every other index is steered instead.
        const Case c = draw_case(plan, 1, 2 * i, 0);
        first += c.operation == name_at(0) ? 1U : 0U;
        ASSERT_TRUE(c.operation == name_at(0) || c.operation == name_at(1));
    }
    EXPECT_NEAR(first, 500, 90);
}

TEST(DrawCase, TakesPins) {
    const std::string name(name_at(1));
    const Pins pins{{"operation", name}};
    for (std::uint64_t i = 0; i < 20; ++i) {
        EXPECT_EQ(draw_case(default_plan(), 1, i, 0, &pins).operation, name);
    }
    const Pins unknown{{"no.such.path", "1"}};
    EXPECT_THROW(draw_case(default_plan(), 1, 0, 0, &unknown), PinError);
}

TEST(DrawFilteredCase, IsTheFirstAttemptThatPasses) {
    const Plan plan = default_plan();
    EXPECT_EQ(draw_filtered_case(plan, 5, 3, {}), draw_case(plan, 5, 3, 0));
    const Case third = draw_case(plan, 5, 3, 2);
    unsigned asked = 0;
    const auto found = draw_filtered_case(plan, 5, 3, [&](const Case& c) {
        ++asked;
        return c == third;
    });
    EXPECT_EQ(found, third);
    EXPECT_EQ(asked, 3U);
}

TEST(DrawFilteredCase, GivesUpAfterThirtyTwo) {
    unsigned asked = 0;
    EXPECT_EQ(draw_filtered_case(default_plan(), 5, 3,
                                 [&](const Case&) {
                                     ++asked;
                                     return false;
                                 }),
              std::nullopt);
    EXPECT_EQ(asked, max_attempts);
}

TEST(Validate, NamesUnknownOperationsAndCosts) {
    Case c = draw_case(default_plan(), 1, 0, 0);
    EXPECT_TRUE(validate(c).empty());
    c.operation = "no-such";
    ASSERT_EQ(validate(c).size(), 1U);
    EXPECT_EQ(validate(c)[0].rule, "envelope");
}

TEST(Cost, IsWithinWhenEveryPartIs) {
    const Cost limit{10, 10, 10, 10};
    EXPECT_TRUE((Cost{10, 10, 10, 10}.within(limit)));
    EXPECT_FALSE((Cost{11, 0, 0, 0}.within(limit)));
    EXPECT_FALSE((Cost{0, 11, 0, 0}.within(limit)));
    EXPECT_FALSE((Cost{0, 0, 11, 0}.within(limit)));
    EXPECT_FALSE((Cost{0, 0, 0, 11}.within(limit)));
}

}  // namespace
}  // namespace difffuzz

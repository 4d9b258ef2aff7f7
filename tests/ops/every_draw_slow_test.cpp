// What holds for the draws of every operation in the table.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "images/virtual_content.hpp"

#include "images/format.hpp"
#include "ops/operation.hpp"
#include "pickers/rules.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/plan_of.hpp"

namespace difffuzz {
namespace {

std::string violations_of(const Case& c) {
    std::string text;
    for (const Violation& violation : validate(c)) {
        text += violation.rule + ": " + violation.detail + "; ";
    }
    return text;
}

// Whether there are valid cases that can be made to break the rule: rules that operations share may
// be about what one of them never does.
bool ever_applicable(const Operation& operation, const Rule& rule) {
    const Plan plan = test::plan_of(operation, 0);
    for (std::uint64_t i = 0; i < 2000; ++i) {
        if (rule.applicable == nullptr || rule.applicable(draw_case(plan, 16, i, 0))) {
            return true;
        }
    }
    return false;
}

class EveryOperation : public testing::TestWithParam<const Operation*> {};

TEST_P(EveryOperation, DrawsWhatItValidatesWithinTheCost) {
    const Operation& operation = *GetParam();
    const Plan plan = test::plan_of(operation, 5);
    unsigned refused = 0;
    constexpr unsigned draws = test::draws_to_make(20'000);
    for (std::uint64_t i = 0; i < draws; ++i) {
        const Case c = draw_case(plan, 11, i, 0);
        ASSERT_FALSE(c.steps.empty()) << "case " << i;
        ASSERT_EQ(violations_of(c), "") << "case " << i << ' ' << broken_rule(c);
        ASSERT_TRUE(operation.cost(c).within(cost_limit)) << "case " << i;
        refused += intent_name(c) == "refused" ? 1U : 0U;
    }
    EXPECT_NEAR(refused, draws / 20, draws / 100);
}

TEST_P(EveryOperation, BreaksEachEnforcedRuleAlone) {
    const Operation& operation = *GetParam();
    const Plan plan = test::plan_of(operation, 100);
    std::map<std::string_view, unsigned> seen;
    constexpr unsigned draws = test::draws_to_make(10'000);
    for (std::uint64_t i = 0; i < draws; ++i) {
        const Case c = draw_case(plan, 12, i, 0);
        ASSERT_EQ(violations_of(c), "") << "case " << i << ' ' << broken_rule(c);
        unsigned broken = 0;
        for (const Rule& rule : operation.picker->rules) {
            broken += rule.broken(c) ? 1U : 0U;
        }
        ASSERT_EQ(broken, intent_name(c) == "refused" ? 1U : 0U) << "case " << i;
        for (const Rule& rule : operation.picker->rules) {
            if (rule.name == broken_rule(c)) {
                ++seen[rule.name];
            }
        }
    }
    std::set<std::string_view> names;
    for (const Rule& rule : operation.picker->rules) {
        EXPECT_TRUE(names.insert(rule.name).second) << rule.name << " is there twice";
        EXPECT_FALSE(rule.why.empty()) << rule.name;
        EXPECT_EQ(rule.enforced, rule.break_it != nullptr) << rule.name;
        if (rule.enforced && ever_applicable(operation, rule)) {
            EXPECT_GE(seen[rule.name], draws / 500) << rule.name;
        }
    }
}

TEST_P(EveryOperation, DrawsEveryOptionAndEveryWord) {
    const Operation& operation = *GetParam();
    const Plan plan = test::plan_of(operation, 0);
    std::map<std::string_view, unsigned> options;
    std::set<std::string> words;
    constexpr unsigned draws = 5000;
    for (std::uint64_t i = 0; i < draws; ++i) {
        const Case c = draw_case(plan, 13, i, 0);
        for (const Argument& argument : last_step(c).arguments) {
            for (const OptionSpec& spec : operation.picker->options) {
                if (spec.option == argument.option) {
                    ++options[spec.option];
                }
            }
            if (const auto* word =
                    argument.value ? std::get_if<WordValue>(&*argument.value) : nullptr) {
                words.insert(argument.option + "=" + word->text);
            }
        }
    }
    // What a rule keeps out: it breaks one in whatever valid case it is put.
    const auto excluded = [&](auto put) {
        for (std::uint64_t i = 0; i < 40; ++i) {
            Case c = draw_case(plan, 13, i, 0);
            put(last_step(c));
            if (validate(c).empty()) {
                return false;
            }
        }
        return true;
    };
    for (const OptionSpec& spec : operation.picker->options) {
        if (options[spec.option] == 0) {
            EXPECT_TRUE(excluded([&](Step& step) { add_flag(step, spec.option); })) << spec.option;
            continue;
        }
        // Rare options must not be so rare that a campaign of a thousand cases misses them.
        EXPECT_GE(options[spec.option], draws / 200) << spec.option;
        for (const std::string_view word : spec.words) {
            EXPECT_TRUE(words.contains(std::string(spec.option) + "=" + std::string(word)) ||
                        excluded([&](Step& step) {
                            set_option(step, spec.option, WordValue{std::string(word)});
                        }))
                << spec.option << ' ' << word;
        }
    }
}

TEST_P(EveryOperation, SaysWhyOptionsAreLeftOut) {
    for (const LeftOut& left_out : GetParam()->picker->left_out) {
        EXPECT_FALSE(left_out.reason.empty()) << left_out.option;
        for (const OptionSpec& spec : GetParam()->picker->options) {
            EXPECT_NE(spec.option, left_out.option);
        }
    }
}

TEST_P(EveryOperation, DeclaresItsLooksConsistently) {
    const Operation& operation = *GetParam();
    const Plan plan = test::plan_of(operation, 20);
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const Case c = draw_case(plan, 14, i, 0);
        const std::size_t step = c.steps.size() - 1;
        const auto changing = operation.may_change(c, step);
        for (const std::string& id : changing) {
            EXPECT_TRUE(find_image(c, id) != nullptr || find_output(c, id) != nullptr) << id;
        }
        for (const InspectionRequest& request : operation.inspections(c, step)) {
            EXPECT_NE(find_format(request.format), nullptr) << request.format;
            EXPECT_FALSE(file_name_of(c, request.image).empty()) << request.image;
            if (request.expected) {
                // Throws or asserts where the model cannot tell.
                EXPECT_EQ(model_of(c, *request.expected)->size() % sector_bytes, 0U);
            }
        }
    }
}

TEST_P(EveryOperation, KeepsAllocatedContentSmall) {
    const Operation& operation = *GetParam();
    const Plan plan = test::plan_of(operation, 0);
    std::vector<std::uint64_t> allocated;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        const Case c = draw_case(plan, 15, i, 0);
        for (const ImageRecipe& image : c.images) {
            EXPECT_NE(image.size, 0U);
            std::uint64_t bytes = 0;
            for (const ContentWrite& write : image.content) {
                bytes += has_data(write.kind) ? write.length : 0;
            }
            allocated.push_back(bytes);
        }
    }
    if (allocated.empty()) {
        GTEST_SKIP() << "draws no images";
    }
    std::ranges::sort(allocated);
    EXPECT_LE(allocated[allocated.size() / 2], 128U * 1024);
    EXPECT_LE(allocated[allocated.size() * 995 / 1000], 8U * 1024 * 1024);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOperation, testing::ValuesIn(operations()),
                         [](const auto& row) { return std::string(row.param->name); });

}  // namespace
}  // namespace difffuzz

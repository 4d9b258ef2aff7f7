// The framework: drawing refused cases and validating any case, on a picker made up here.
#include "pickers/picker.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pickers/rules.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view colours[] = {"red", "green"};

Case toy_case(std::int64_t number) {
    Case c;
    c.operation = "toy";
    c.images.push_back({"src", "raw", 512, {}, {}, {}});
    Step step{Actor::tool, "toy", "toy", ValidIntent{}, {}};
    step.arguments = {
        {"-n", NumberValue{number}}, {"--colour", WordValue{"red"}}, {"", ImageValue{"src"}}};
    c.steps.push_back(step);
    return c;
}

Case draw_toy(const PickContext& context) {
    return toy_case(static_cast<std::int64_t>(context.draws.between("step[0].arg[-n]", 1, 9)));
}

constexpr OptionSpec toy_options[] = {
    {"-n", ValueKind::number, {}, 1}, {"--colour", ValueKind::word, colours},
    {"--size", ValueKind::size, {}},  {"-v", ValueKind::none, {}},
    {"", ValueKind::image, {}, 1, 1}, {unknown_option, ValueKind::none, {}, 0, 0},
};

bool is_odd(const Case& c) { return number_of(last_step(c), "-n").value_or(0) % 2 == 1; }
void set_number(Case& c, std::int64_t value) { set_option(last_step(c), "-n", NumberValue{value}); }

const Rule toy_rules[] = {
    {"too-large", true, "at most 9",
     [](const Case& c) { return number_of(last_step(c), "-n").value_or(0) > 9; },
     [](Case& c, const Draws&) { set_number(c, 10); }},
    {"zero", false, "not 0; accepted by some",
     [](const Case& c) { return number_of(last_step(c), "-n") == 0; }},
    {"never-applicable", true, "", [](const Case&) { return false; }, [](Case&, const Draws&) {},
     [](const Case&) { return false; }},
    {"odd-only", true, "cannot be negative",
     [](const Case& c) { return number_of(last_step(c), "-n").value_or(0) < 0; },
     [](Case& c, const Draws&) { set_number(c, -1); }, is_odd},
    no_file_rule(),
};
const Picker toy{"toy", "toy", draw_toy, toy_options, toy_rules};

std::vector<std::string> broken_in(const Case& c) {
    std::vector<std::string> names;
    for (const Violation& violation : validate_case(toy, c)) {
        names.push_back(violation.rule);
    }
    return names;
}

Case refused(Case c, std::string rule) {
    c.steps.back().intent = RefusedIntent{std::move(rule)};
    return c;
}

Case changed(void (*change)(Case&)) {
    Case c = toy_case(1);
    change(c);
    return c;
}

TEST(PickCase, RefusesTheShareOfThePlan) {
    for (const unsigned percent : {0U, 5U, 100U}) {
        Plan plan;
        plan.refused_percent = percent;
        unsigned count = 0;
        for (std::uint64_t i = 0; i < 4000; ++i) {
            DrawState state = Draws::start(1, i, 0);
            const Case c = pick_case(toy, {Draws(state), plan});
            ASSERT_THAT(broken_in(c), IsEmpty());
            count += intent_name(c) == "refused" ? 1U : 0U;
        }
        EXPECT_NEAR(count, 40 * percent, percent == 5 ? 60 : 0) << percent;
    }
}

TEST(PickCase, BreaksApplicableEnforcedRulesOnly) {
    Plan plan;
    plan.refused_percent = 100;
    std::map<std::string, unsigned> seen;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        DrawState state = Draws::start(2, i, 0);
        const Case c = pick_case(toy, {Draws(state), plan});
        const std::string rule(broken_rule(c));
        ++seen[rule];
        DrawState again = Draws::start(2, i, 0);
        EXPECT_TRUE(rule != "odd-only" || is_odd(draw_toy({Draws(again), plan})));
    }
    EXPECT_EQ(seen.size(), 3U);
    EXPECT_GT(seen["too-large"], 500U);
    EXPECT_GT(seen["odd-only"], 200U);
    EXPECT_GT(seen["no-file"], 500U);
}

TEST(PickCase, BreaksNoRuleThatBringsDownAnother) {
    static const Rule rules[] = {
        {"at-most-nine", true, "breaks the other, too",
         [](const Case& c) { return number_of(last_step(c), "-n").value_or(0) > 9; },
         [](Case& c, const Draws&) { set_number(c, 10); }},
        {"not-ten", true, "", [](const Case& c) { return number_of(last_step(c), "-n") == 10; },
         [](Case& c, const Draws&) { set_number(c, 10); }},
        {"positive", true, "",
         [](const Case& c) { return number_of(last_step(c), "-n").value_or(0) < 0; },
         [](Case& c, const Draws&) { set_number(c, -1); }},
    };
    const Picker clumsy{"toy", "toy", draw_toy, toy_options, rules};
    Plan plan;
    plan.refused_percent = 100;
    std::map<std::string, unsigned> seen;
    for (std::uint64_t i = 0; i < 300; ++i) {
        DrawState state = Draws::start(3, i, 0);
        ++seen[std::string(broken_rule(pick_case(clumsy, {Draws(state), plan})))];
    }
    EXPECT_EQ(seen.size(), 2U);
    EXPECT_GT(seen["positive"], 50U);
    EXPECT_GT(seen[""], 100U);
}

TEST(ValidateCase, AcceptsWhatIsInTheEnvelope) {
    EXPECT_THAT(broken_in(toy_case(1)), IsEmpty());
    EXPECT_THAT(broken_in(refused(toy_case(10), "too-large")), IsEmpty());
}

TEST(ValidateCase, NamesBrokenRules) {
    EXPECT_THAT(broken_in(toy_case(10)), ElementsAre("too-large"));
    EXPECT_THAT(broken_in(toy_case(0)), ElementsAre("zero"));
    // The rule that was meant to be broken is not listed, another is.
    Case both = toy_case(10);
    remove_option(both.steps.back(), "");
    EXPECT_THAT(broken_in(refused(both, "too-large")), ElementsAre("no-file"));
}

TEST(ValidateCase, ARefusalMustBreakWhatItSays) {
    EXPECT_THAT(broken_in(refused(toy_case(1), "too-large")), ElementsAre("not-broken"));
    EXPECT_THAT(broken_in(refused(toy_case(1), "no-such-rule")), ElementsAre("not-broken"));
    // A rule that is not enforced is no ground for refusal.
    EXPECT_THAT(broken_in(refused(toy_case(0), "zero")), ElementsAre("zero", "not-broken"));
}

TEST(ValidateCase, FindsWrongShapes) {
    const std::vector<std::pair<const char*, void (*)(Case&)>> changes{
        {"another operation", [](Case& c) { c.operation = "other"; }},
        {"another command", [](Case& c) { c.steps[0].command = "other"; }},
        {"unlisted option", [](Case& c) { add_flag(c.steps[0], "--more"); }},
        {"option missing", [](Case& c) { remove_option(c.steps[0], "-n"); }},
        {"option twice",
         [](Case& c) {
             c.steps[0].arguments.push_back({"-n", NumberValue{1}});
         }},
        {"number as size", [](Case& c) { set_option(c.steps[0], "-n", plain_size(1)); }},
        {"size as number", [](Case& c) { set_option(c.steps[0], "--size", NumberValue{1}); }},
        {"word not listed", [](Case& c) { set_option(c.steps[0], "--colour", WordValue{"blue"}); }},
        {"literal in a valid step",
         [](Case& c) { set_option(c.steps[0], "--colour", LiteralValue{"red"}); }},
        {"flag with value", [](Case& c) { set_option(c.steps[0], "-v", WordValue{"x"}); }},
        {"value missing", [](Case& c) { add_flag(c.steps[0], "--size"); }},
        {"unknown image format", [](Case& c) { c.images[0].format = "qcow9"; }},
        {"image twice", [](Case& c) { c.images.push_back(c.images[0]); }},
        {"output named as image",
         [](Case& c) {
             c.outputs.push_back({"src", "raw"});
         }},
        {"image of size 0",
         [](Case& c) {
             c.images[0].content = {{WriteKind::write, 0, 0, {}}};
         }},
        {"backing that comes later",
         [](Case& c) {
             c.images[0].format = "qcow2";
             c.images[0].backing = "later";
             c.images.push_back({"later", "raw", 512, {}, {}, {}});
         }},
    };
    for (const auto& [what, change] : changes) {
        EXPECT_THAT(broken_in(changed(change)), testing::Contains("envelope")) << what;
    }
}

TEST(ValidateCase, LetsARefusedStepCarryALiteral) {
    Case c = toy_case(10);
    set_option(c.steps[0], "--colour", LiteralValue{"blue"});
    EXPECT_THAT(broken_in(refused(c, "too-large")), IsEmpty());
}

}  // namespace
}  // namespace difffuzz

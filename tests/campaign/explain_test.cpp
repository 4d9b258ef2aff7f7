// Explanations with a function in the place of the tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "campaign/triage/explain.hpp"

namespace difffuzz {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

Reduced resize_case() {
    Reduced r;
    r.c.operation = "resize";
    r.c.images.push_back({"src", "raw", 65536, {}, {}, {{WriteKind::write, 0, 1, ByteFill{1}}}});
    r.c.steps.push_back({Actor::tool,
                         "resize",
                         "resize",
                         ValidIntent{},
                         {{"-c", NumberValue{4}},
                          {"", ImageValue{"src"}},
                          {"", SizeValue{512, "+512"}},
                          {"-o", OptionList{{{"cluster_size", plain_size(4096)}}}},
                          {"-s", SizeValue{512, "0x200"}}}});
    return r;
}

using Predicate = std::function<TrialEnd(const Case&)>;

Explanation explain(
    const Predicate& predicate, std::uint64_t max_runs = 1000,
    const std::vector<RefusedEdit>& refused = {},
    const std::function<bool(const Reduced&)>& allowed = [](const Reduced&) { return true; }) {
    Explainer explainer(resize_case(), refused, max_runs, allowed);
    while (explainer.wanted()) {
        explainer.put(predicate(explainer.wanted()->c));
    }
    return explainer.explanation();
}

const NumberBounds& bounds_of(const Explanation& explanation, const std::string& thing) {
    static const NumberBounds none;
    for (const NumberBounds& bounds : explanation.numbers) {
        if (bounds.thing == thing) {
            return bounds;
        }
    }
    ADD_FAILURE() << "nothing about " << thing;
    return none;
}

TEST(Explanation, FindsTheExactBoundsOfANumberThatMatters) {
    const auto shows = [](const Case& c) {
        return c.images[0].size >= 700 && c.images[0].size <= 70000 ? TrialEnd::same
                                                                    : TrialEnd::agreed;
    };
    const Explanation explanation = explain(shows);
    const NumberBounds& size = bounds_of(explanation, "size of image src");
    EXPECT_EQ(size.least, 700U);
    EXPECT_EQ(size.below, 699U);
    EXPECT_EQ(size.most, 70000U);
    EXPECT_EQ(size.above, 70001U);
    ASSERT_TRUE(explanation.agreeing);
    EXPECT_EQ(shows(explanation.agreeing->c), TrialEnd::agreed);
    EXPECT_THAT(
        explanation.lines(),
        Contains("size of image src: 700 to 70000 shows it, 699 does not and 70001 does not"));
    // The other numbers do not matter, and it says what was tried.
    for (const char* thing :
         {"option -c of step 0", "argument 2 of step 0", "cluster_size of option -o of step 0",
          "offset of write 0 of image src"}) {
        EXPECT_TRUE(bounds_of(explanation, thing).free()) << thing;
    }
    // A size in another spelling is left alone.
    for (const NumberBounds& bounds : explanation.numbers) {
        EXPECT_NE(bounds.thing, "option -s of step 0");
    }
    EXPECT_THAT(explanation.lines(),
                Contains("argument 2 of step 0 does not matter (0 to 1073741824 tried)"));
}

TEST(Explanation, StopsWhereNothingBetweenIsAllowed) {
    const Explanation explanation = explain(
        [](const Case& c) { return c.images[0].size >= 4096 ? TrialEnd::same : TrialEnd::slipped; },
        1000, {}, [](const Reduced& r) { return r.c.images[0].size % 4096 == 0; });
    const NumberBounds& size = bounds_of(explanation, "size of image src");
    EXPECT_EQ(size.least, 4096U);
    EXPECT_EQ(size.below, 0U);
    EXPECT_EQ(size.above, std::nullopt);
    EXPECT_FALSE(explanation.agreeing);
}

TEST(Explanation, NamesWhatIsNeededAndTheNearestAgreement) {
    const Case other;
    const Explanation explanation =
        explain([](const Case&) { return TrialEnd::same; }, 0,
                {{"option -U of step 0", "", TrialEnd::agreed, other},
                 {"image src", "", TrialEnd::slipped, other},
                 {"value of option -c of step 0", "1", TrialEnd::agreed, other},
                 {"value of option -c of step 0", "2", TrialEnd::other, other}});
    EXPECT_THAT(explanation.needed, ElementsAre("option -U of step 0", "image src"));
    ASSERT_TRUE(explanation.agreeing);
    EXPECT_EQ(explanation.agreeing->edit, "with value of option -c of step 0: 1");
    EXPECT_THAT(explanation.lines(), Contains("needs image src"));
    EXPECT_EQ(explanation.runs, 0U);
    EXPECT_TRUE(explanation.numbers.empty());
}

TEST(Explanation, IsBoundedInRunsAndInLines) {
    std::uint64_t runs = 0;
    const Explanation explanation = explain(
        [&](const Case&) {
            ++runs;
            return TrialEnd::same;
        },
        9);
    EXPECT_EQ(runs, 9U);
    EXPECT_EQ(explanation.runs, 9U);
    std::vector<RefusedEdit> many;
    for (int i = 0; i < 40; ++i) {
        many.push_back({"thing " + std::to_string(i), "", TrialEnd::agreed, {}});
    }
    EXPECT_LE(explain([](const Case&) { return TrialEnd::same; }, 0, many).lines().size(), 12U);
    EXPECT_EQ(to_json(explanation).at("runs"), 9);
}

}  // namespace
}  // namespace difffuzz

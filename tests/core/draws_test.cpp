#include "core/cases/draws.hpp"

#include <array>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace difffuzz {
namespace {

using testing::HasSubstr;

constexpr std::string_view words[] = {"a", "b", "c"};

// What moves these moves every case: the generator version goes up with them.
TEST(Draws, GoldenValues) {
    ASSERT_EQ(generator_version, 5U);
    DrawState state = Draws::start(42, 7, 0);
    const Draws draws(state);
    EXPECT_EQ(draws.bits("a"), 10610063999247900834U);
    EXPECT_EQ(draws.scope("step[0]").bits("arg[-S]"), 375518023864763998U);
    EXPECT_EQ(draws.between("size", 1, 1000), 18U);
    EXPECT_EQ(draws.pick("word", words), "c");
    EXPECT_EQ(draws.chance("flag", 50), false);
}

TEST(Draws, EveryPartOfTheKeyMatters) {
    const auto first = [](std::uint64_t seed, std::uint64_t index, std::uint32_t attempt,
                          std::uint32_t retry = 0) {
        DrawState state = Draws::start(seed, index, attempt, nullptr, retry);
        return Draws(state).bits("x");
    };
    const std::uint64_t base = first(1, 2, 3);
    EXPECT_EQ(base, first(1, 2, 3));
    EXPECT_NE(base, first(2, 2, 3));
    EXPECT_NE(base, first(1, 3, 3));
    EXPECT_NE(base, first(1, 2, 4));
    EXPECT_NE(base, first(1, 2, 3, 1));
    EXPECT_NE(base, first(std::uint64_t{1} << 32, 2, 3));
}

// A draw is a function of its path alone: whatever else is drawn, before or after, moves nothing.
TEST(Draws, AddingADrawMovesNoOther) {
    rc::check("order and company", [](std::uint64_t seed, std::uint64_t index) {
        DrawState one = Draws::start(seed, index, 0);
        const std::uint64_t alone = Draws(one).scope("step[1]").between("arg[-S]", 0, 1'000'000);
        DrawState two = Draws::start(seed, index, 0);
        const Draws many(two);
        many.bits("before");
        many.scope("step[0]").chance("arg[-S]", 50);
        many.scope("step[1]").pick("arg[-T]", words);
        RC_ASSERT(many.scope("step[1]").between("arg[-S]", 0, 1'000'000) == alone);
        RC_ASSERT(many.scope("step[1]").between("arg[-S]", 0, 1'000'000) == alone);
    });
}

TEST(Draws, ScopesSpellPathsWithDots) {
    DrawState state = Draws::start(1, 1, 0);
    const Draws draws(state);
    EXPECT_EQ(draws.scope("image[src]").scope("write[0]").bits("seed"),
              draws.bits("image[src].write[0].seed"));
    EXPECT_NE(draws.scope("a").bits("b"), draws.scope("b").bits("a"));
}

TEST(Draws, BetweenReachesBothEndsAndNothingElse) {
    std::map<std::uint64_t, int> seen;
    for (std::uint64_t i = 0; i < 4000; ++i) {
        DrawState state = Draws::start(9, i, 0);
        const std::uint64_t value = Draws(state).between("x", 5, 8);
        ASSERT_GE(value, 5U);
        ASSERT_LE(value, 8U);
        ++seen[value];
    }
    ASSERT_EQ(seen.size(), 4U);
    for (const auto& [value, count] : seen) {
        EXPECT_NEAR(count, 1000, 150) << value;
    }
    DrawState state = Draws::start(9, 0, 0);
    EXPECT_EQ(Draws(state).between("one", 3, 3), 3U);
}

TEST(Draws, WeightsAreShares) {
    static constexpr Weighted<std::string_view> weighted[] = {
        {"often", 90}, {"rare", 10}, {"no", 0}};
    std::map<std::string_view, int> seen;
    int yes = 0;
    for (std::uint64_t i = 0; i < 4000; ++i) {
        DrawState state = Draws::start(3, i, 0);
        const Draws draws(state);
        ++seen[draws.pick("word", weighted)];
        yes += draws.chance("flag", 25) ? 1 : 0;
        EXPECT_FALSE(draws.chance("never", 0));
        EXPECT_TRUE(draws.chance("always", 100));
    }
    EXPECT_NEAR(seen["often"], 3600, 100);
    EXPECT_NEAR(seen["rare"], 400, 100);
    EXPECT_EQ(seen.count("no"), 0U);
    EXPECT_NEAR(yes, 1000, 120);
}

TEST(Draws, PinsHoldADrawAndMoveNoOther) {
    const Pins pins{{"step[0].arg[-d]", "17"}, {"flag", "true"}, {"word", "c"}};
    DrawState free_state = Draws::start(5, 5, 0);
    DrawState pinned_state = Draws::start(5, 5, 0, &pins);
    const Draws free_draws(free_state);
    const Draws pinned(pinned_state);
    EXPECT_EQ(pinned.scope("step[0]").between("arg[-d]", 1, 64), 17U);
    EXPECT_TRUE(pinned.chance("flag", 0));
    EXPECT_EQ(pinned.pick("word", words), "c");
    EXPECT_EQ(pinned.bits("other"), free_draws.bits("other"));
    EXPECT_NO_THROW(require_pins_used(pinned_state));
}

TEST(Draws, PinsThatCannotHoldAreErrors) {
    enum class Colour { red, green };
    static constexpr Weighted<Colour> colours[] = {{Colour::red, 1}, {Colour::green, 1}};
    const Pins pins{{"n", "65"}, {"text", "12x"}, {"flag", "yes"}, {"word", "d"}, {"colour", "2"}};
    DrawState state = Draws::start(5, 5, 0, &pins);
    const Draws draws(state);
    EXPECT_THROW(draws.between("n", 1, 64), PinError);
    EXPECT_THROW(draws.between("text", 1, 64), PinError);
    EXPECT_THROW(draws.chance("flag", 50), PinError);
    EXPECT_THROW(draws.pick("word", words), PinError);
    EXPECT_THROW(draws.pick("colour", colours), PinError);
    const Pins green{{"colour", "1"}};
    DrawState second = Draws::start(5, 5, 0, &green);
    EXPECT_EQ(Draws(second).pick("colour", colours), Colour::green);
}

TEST(Draws, APinThatNoDrawAskedForIsNamed) {
    const Pins pins{{"used", "1"}, {"unused", "1"}};
    DrawState state = Draws::start(5, 5, 0, &pins);
    Draws(state).between("used", 0, 1);
    try {
        require_pins_used(state);
        FAIL();
    } catch (const PinError& error) {
        EXPECT_THAT(error.what(), HasSubstr("path unused"));
    }
}

// How often each value comes in 800 draws of "step[0].<name>", with a wish or without.
template <typename Draw>
std::map<std::string, unsigned> counts_of(const DrawWish* wish, Draw draw) {
    std::map<std::string, unsigned> counts;
    for (std::uint64_t i = 0; i < 800; ++i) {
        DrawState state = Draws::start(8, i, 0);
        state.wish = wish;
        ++counts[spell_draw(draw(Draws(state).scope("step[0]")))];
    }
    return counts;
}

TEST(DrawWish, ChancesOnItsPathsAreTaken) {
    const DrawWish wish{{"arg[-S]", "backing"}, {}};
    const auto count = [&](const char* name, unsigned percent) {
        return counts_of(&wish, [&](const Draws& draws) { return draws.chance(name, percent); });
    };
    EXPECT_EQ(count("arg[-S]", 1)["true"], 800U);
    EXPECT_EQ(count("image[src].backing", 1)["true"], 800U);
    EXPECT_LT(count("arg[-T]", 1)["true"], 40U);
    EXPECT_LT(count("arg[-S].odd", 1)["true"], 40U);
    EXPECT_LT(count("no_backing", 1)["true"], 40U);
    // What a picker rules out stays out.
    EXPECT_EQ(count("arg[-S]", 0)["true"], 0U);
}

TEST(DrawWish, ValuesOnItsPathsAreAllAsLikely) {
    static constexpr Weighted<int> numbers[] = {{0, 97}, {1, 3}};
    const DrawWish wish{{"arg[-S]"}, {}};
    const auto ones = [&](const DrawWish* wished, const char* name) {
        return counts_of(wished,
                         [&](const Draws& draws) { return draws.pick(name, numbers); })["1"];
    };
    EXPECT_LT(ones(nullptr, "arg[-S]"), 80U);
    EXPECT_NEAR(ones(&wish, "arg[-S]"), 400, 80);
    EXPECT_NEAR(ones(&wish, "arg[-S].kind"), 400, 80);
    EXPECT_LT(ones(&wish, "arg[-Sx]"), 80U);
    const auto below = counts_of(
        &wish, [&](const Draws& draws) { return draws.scope("arg[-S]").pick("kind", numbers); });
    EXPECT_NEAR(below.at("1"), 400, 80);
}

TEST(DrawWish, ItsWordsAreGivenMostOfTheTime) {
    static constexpr Weighted<std::string_view> formats[] = {
        {"qcow2", 90}, {"raw", 9}, {"vhdx", 1}, {"qed", 0}};
    const auto draw = [&](const Draws& draws) { return draws.pick("format", formats); };
    EXPECT_LT(counts_of(nullptr, draw)["vhdx"], 40U);
    const DrawWish one{{}, {"vhdx", "no such"}};
    EXPECT_NEAR(counts_of(&one, draw)["vhdx"], 700, 60);
    const DrawWish two{{}, {"vhdx", "raw"}};
    auto counts = counts_of(&two, draw);
    EXPECT_NEAR(counts["vhdx"], 350, 70);
    EXPECT_NEAR(counts["raw"], 350, 70);
    const DrawWish never{{}, {"qed"}};
    EXPECT_EQ(counts_of(&never, draw)["qed"], 0U);
    const auto plain = [](const Draws& draws) { return draws.pick("word", words); };
    const DrawWish letter{{}, {"c"}};
    EXPECT_GT(counts_of(&letter, plain)["c"], 640U);
}

}  // namespace
}  // namespace difffuzz

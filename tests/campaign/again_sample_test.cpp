// Which cases run again.
#include <gtest/gtest.h>

#include "campaign/again_sample.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

TEST(AgainSample, IsAFixedShareOfAllCasesWhateverTheirRemainder) {
    constexpr std::uint64_t cases = 64000;
    for (std::uint64_t remainder = 0; remainder < 4; ++remainder) {
        std::uint64_t again = 0;
        std::uint64_t later = 0;
        for (std::uint64_t index = remainder; index < cases; index += 4) {
            const Again how = again_of(Determinism::sample, index);
            again += how != Again::no ? 1U : 0U;
            later += how == Again::later_second ? 1U : 0U;
        }
        EXPECT_NEAR(static_cast<double>(again), cases / 4.0 / sampled_one_in, 100);
        EXPECT_NEAR(static_cast<double>(later), cases / 4.0 / sampled_one_in / later_one_in, 40);
    }
}

TEST(AgainSample, OfAllHoldsTheSampleAndOffHoldsNone) {
    for (std::uint64_t index = 0; index < 1000; ++index) {
        EXPECT_EQ(again_of(Determinism::off, index), Again::no);
        EXPECT_NE(again_of(Determinism::all, index), Again::no);
        if (const Again how = again_of(Determinism::sample, index); how != Again::no) {
            EXPECT_EQ(how, again_of(Determinism::all, index));
        }
    }
}

TEST(AgainSample, ModesHaveNames) {
    for (const Determinism mode : {Determinism::off, Determinism::sample, Determinism::all}) {
        EXPECT_EQ(parse_determinism(to_string(mode)), mode);
    }
    EXPECT_THROW(parse_determinism("always"), UsageError);
}

}  // namespace
}  // namespace difffuzz

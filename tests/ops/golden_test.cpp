// Pins what seeds draw. When this fails after a deliberate change of the draws, raise
// generator_version and renew the digests.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/cases/digest.hpp"
#include "core/cases/recipe_json.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

// Of the first 2000 cases of a seed by the default plan.
std::string digest_of_seed(std::uint64_t seed) {
    const Plan plan = default_plan();
    Sha256 hash;
    for (std::uint64_t index = 0; index < 2000; ++index) {
        hash.update(to_json(draw_case(plan, seed, index, 0)).dump() + "\n");
    }
    return hash.finish_hex().substr(0, 16);
}

TEST(Golden, SeedsDrawTheSameCases) {
    EXPECT_EQ(generator_version, 1U);
    EXPECT_EQ(digest_of_seed(42), "9ebc5cc7d337d61f");
    EXPECT_EQ(digest_of_seed(7), "5a09924b6490d99b");
}

TEST(Golden, EveryDrawIsInsideTheEnvelopeAndRoundTrips) {
    const Plan plan = default_plan();
    for (std::uint64_t index = 0; index < 3000; ++index) {
        const Case c = draw_case(plan, 99, index, 0);
        const auto violations = validate(c);
        ASSERT_TRUE(violations.empty())
            << index << ": " << violations.front().rule << ", " << violations.front().detail;
        ASSERT_EQ(case_from_text(to_json(c).dump()), c) << index;
    }
}

}  // namespace
}  // namespace difffuzz

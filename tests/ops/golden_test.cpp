// Pins what seeds draw. When this fails after a deliberate change of the draws, raise
// generator_version and renew the digests.
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/cases/digest.hpp"
#include "core/cases/recipe_json.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

// Of the first cases of a seed by a plan.
std::string digest_of(const Plan& plan, std::uint64_t seed, std::uint64_t count) {
    Sha256 hash;
    for (std::uint64_t index = 0; index < count; ++index) {
        hash.update(to_json(draw_case(plan, seed, index, 0)).dump() + "\n");
    }
    return hash.finish_hex().substr(0, 16);
}

// A new operation moves the default plan's digest and no other's.
TEST(Golden, SeedsDrawTheSameCases) {
    EXPECT_EQ(generator_version, 3U);
    EXPECT_EQ(digest_of(default_plan(), 42, 2000), "6b50eab5b31aefbd");
    const std::map<std::string_view, std::string_view> pinned{
        {"amend", "c511ba85891d51a6"},
        {"bench", "e489c09cbf463915"},
        {"bitmap", "75ffff47d5a81277"},
        {"check", "8efe71e076543154"},
        {"commit", "b35085eb1e55253c"},
        {"compare", "31426b4c624235dc"},
        {"convert", "fde80b0260e4cb2d"},
        {"convert_compressed", "c7fe63362a312f01"},
        {"convert_existing", "e2d7a4abcd0204c0"},
        {"create", "f1d429adc02d7248"},
        {"dd", "8e7a19ca40da6bd3"},
        {"info", "372e4eee5930c31b"},
        {"map", "d38077243c3668f0"},
        {"measure", "7dc7dce58dbf4923"},
        {"rebase", "42dd6a1319d1ec94"},
        {"repair", "8cd75878f5cb3776"},
        {"resize", "fb502b1beeec2f80"},
        {"sequence", "e0eba1f7322b45c2"},
        {"snapshot", "841a4ac823846c3d"},
    };
    for (const Operation* operation : operations()) {
        Plan plan = default_plan();
        plan.operations = {{std::string(operation->name), 1}};
        const auto found = pinned.find(operation->name);
        EXPECT_EQ(digest_of(plan, 7, 400), found == pinned.end() ? "" : found->second)
            << operation->name;
    }
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

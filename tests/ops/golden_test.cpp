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
    EXPECT_EQ(generator_version, 2U);
    EXPECT_EQ(digest_of(default_plan(), 42, 2000), "b4e1e3d76bb52a5f");
    const std::map<std::string_view, std::string_view> pinned{
        {"amend", "65006059d2378696"},
        {"bench", "6017069aae5c76e0"},
        {"bitmap", "cda5d9d7587bf880"},
        {"check", "eb8c19e562dbe784"},
        {"commit", "46d15ed026b76520"},
        {"compare", "a92b68022350d3aa"},
        {"convert", "90a1727647dc5aeb"},
        {"convert_compressed", "0908b45227032211"},
        {"convert_existing", "f5ad7c82d39e9509"},
        {"create", "b5d532a31137fbc2"},
        {"dd", "4c824030716edf01"},
        {"info", "d0b65420e9dd3205"},
        {"map", "73c8ff0c1efe7203"},
        {"measure", "1e02836399e2c836"},
        {"rebase", "da0ee7146559c657"},
        {"resize", "ba5dc61492b2fc61"},
        {"snapshot", "cac07f432b095035"},
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

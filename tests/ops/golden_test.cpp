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
    EXPECT_EQ(generator_version, 4U);
    EXPECT_EQ(digest_of(default_plan(), 42, 2000), "44a61f18bcf655fa");
    const std::map<std::string_view, std::string_view> pinned{
        {"amend", "8837d4fb1270f5e4"},
        {"bench", "5bab37215e761387"},
        {"bitmap", "9bb8d8e125df0113"},
        {"check", "9437ad9c726c39f6"},
        {"commit", "0d88f7ab22f9f05c"},
        {"compare", "c0252e261304f317"},
        {"convert", "4b2a3de90b4e6c60"},
        {"convert_compressed", "e84c309c05b04fb6"},
        {"convert_existing", "323fb041cd7ed3ef"},
        {"create", "d8e626b9baf2ee57"},
        {"dd", "d144bf300a124dc8"},
        {"info", "8d99b52c08ed0b7c"},
        {"map", "68f60174e402aeef"},
        {"measure", "5a3464acbdeb8982"},
        {"rebase", "7e6108a5f3df21df"},
        {"repair", "a8be3f530296c55b"},
        {"resize", "1a91632f56d31ebc"},
        {"sequence", "d92e4774046f1e3b"},
        {"snapshot", "9b719e3eac07d59e"},
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

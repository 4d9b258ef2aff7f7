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
    EXPECT_EQ(generator_version, 5U);
    EXPECT_EQ(digest_of(default_plan(), 42, 2000), "9aab9aa93ef4c0d8");
    const std::map<std::string_view, std::string_view> pinned{
        {"amend", "46a7e82692a6b956"},
        {"bench", "a18ecc9e5ffdbd29"},
        {"bitmap", "e2bae2073819c80d"},
        {"check", "0d64fc9717f18938"},
        {"commit", "320c8ce8b8f1c49e"},
        {"compare", "b631e6f8fcfe1939"},
        {"convert", "f6c8704abdea217e"},
        {"convert_compressed", "9d0e662aabfa40bf"},
        {"convert_existing", "1de82f27be508470"},
        {"create", "1620b8dcee5bda43"},
        {"dd", "f9e88dbe56a45be9"},
        {"info", "8538a5ed5702cacb"},
        {"map", "c00eba4fbdc570ae"},
        {"measure", "d27b4c0f1afc6d85"},
        {"rebase", "111248bf36b5b498"},
        {"repair", "aa976502a6c2bb01"},
        {"resize", "8174add84a4da856"},
        {"sequence", "8e6e58f0ef534128"},
        {"snapshot", "eb6c14128dc00bd8"},
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

// The entries that are built in: usable, narrow, and steered around.
#include <cstdlib>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/case_source.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

Plan plan_for(const Registry& registry, std::string_view mode, const std::string& reference) {
    Plan plan = default_plan();
    plan.versions = {{"subject", "qemu-img 7.2.22"}, {"reference", reference}};
    plan.registry_mode = mode;
    plan.registry_digest = registry_digest(registry.files);
    return plan;
}

constexpr const char* trixie = "qemu-img 10.0.13";
constexpr const char* newest = "qemu-img 11.1.3";

// scripts/acceptance asks for more; in fewer none may come that an entry steers away.
std::uint64_t draws() {
    const char* wanted = std::getenv("DIFFFUZZ_TEST_KNOWN_DRAWS");
    return wanted != nullptr ? std::stoull(wanted) : 300;
}

TEST(BuiltInEntries, AreUsableAndTheirExhibitsLieInside) {
    const Registry registry = load_registry(known_steer, "");
    ASSERT_GE(registry.entries.size(), 20U);
    const Plan older = plan_for(registry, known_enter, trixie);
    const Plan newer = plan_for(registry, known_enter, newest);
    KnownFilter with_older(registry, older);
    KnownFilter with_newer(registry, newer);
    for (std::size_t e = 0; e < registry.entries.size(); ++e) {
        const KnownDivergence& entry = registry.entries[e];
        const bool fits = fit(entry, declared_pair(older)) != Fit::none;
        if (!fits && fit(entry, declared_pair(newer)) == Fit::none) {
            continue;  // about other tools
        }
        const Case c = case_from_text(entry.exhibit);
        bool inside = false;
        for (std::size_t s = 0; s < c.steps.size(); ++s) {
            inside |= (fits ? with_older : with_newer).holds(e, c, s);
        }
        EXPECT_TRUE(inside) << entry.id;
    }
}

// Where nothing is steered around, some are drawn: else this shows nothing.
TEST(BuiltInEntries, NoCaseIsDrawnInsideOneThatSteers) {
    const Registry registry = load_registry(known_steer, "");
    const Plan plan = plan_for(registry, known_steer, trixie);
    CaseSource source(plan, 42, registry);
    KnownFilter judge(registry, plan);
    std::size_t dropped = 0;
    for (std::uint64_t index = 0; index < draws(); ++index) {
        const DrawnCase drawn = source.draw(index);
        dropped += drawn.steered.size();
        ASSERT_TRUE(drawn.c) << index;
        for (std::size_t e = 0; e < registry.entries.size(); ++e) {
            for (std::size_t s = 0; registry.entries[e].steers && s < drawn.c->steps.size(); ++s) {
                ASSERT_FALSE(judge.holds(e, *drawn.c, s)) << index << registry.entries[e].id;
            }
        }
        if (drawn.steered.empty()) {
            // What nothing took is what would have been drawn without a registry.
            ASSERT_EQ(*drawn.c, draw_case(plan, 42, index, 0)) << index;
        }
    }
    EXPECT_GT(dropped, 0U);
}

TEST(BuiltInEntries, ThoseThatSteerAreNarrowOrSayWhyNot) {
    const Registry registry = load_registry(known_steer, "");
    const Plan plan = plan_for(registry, known_steer, trixie);
    CaseSource source(plan, 7, registry);
    std::map<std::string, std::uint64_t> of_operation;
    std::map<std::pair<std::string, std::string>, std::uint64_t> taken;
    for (std::uint64_t index = 0; index < draws(); ++index) {
        const DrawnCase drawn = source.draw(index);
        for (const SteeredAway& steered : drawn.steered) {
            ++taken[{steered.entry, steered.operation}];
            ++of_operation[steered.operation];
        }
        if (drawn.c) {
            ++of_operation[drawn.c->operation];
        }
    }
    for (const auto& [what, count] : taken) {
        const auto entry = std::ranges::find(registry.entries, what.first, &KnownDivergence::id);
        // A few more than the share say nothing about it.
        EXPECT_TRUE(!entry->wide.empty() ||
                    count * 100 <= of_operation[what.second] * max_share_percent + 500)
            << what.first << " took " << count << " of " << of_operation[what.second];
    }
}

TEST(LoadRegistry, RefusesWhatTheTableOfOperationsDoesNotKnow) {
    EXPECT_TRUE(load_registry(known_off, "").entries.empty());
    // A directory that is named must be one, also where nothing is asked of it.
    EXPECT_THROW(load_registry(known_off, "/nowhere"), UsageError);
    EXPECT_THROW(load_registry(known_steer, "/nowhere"), UsageError);
}

}  // namespace
}  // namespace difffuzz

// What entries say of cases and symptoms, from literals.
#include "known_divergences/known_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "tests/known_divergences/entry_text.hpp"

namespace difffuzz::test {
namespace {

Plan plan_of(const Registry& registry, std::string_view mode, const std::string& subject,
             const std::string& reference) {
    Plan plan;
    plan.versions = {{"subject", subject}, {"reference", reference}};
    plan.registry_mode = mode;
    plan.registry_digest = registry_digest(registry.files);
    return plan;
}

Registry registry_of(const std::string& text) { return make_registry({{"sample.toml", text}}); }

Case info(const std::string& output) {
    Case c;
    c.operation = "info";
    c.images.push_back({"src", "raw", 4096, {}, {}, {}});
    c.steps.push_back({Actor::neutral, "io", "write", ValidIntent{}, {{"", ImageValue{"src"}}}});
    c.steps.push_back({Actor::tool,
                       "info",
                       "info",
                       ValidIntent{},
                       {{"--output", WordValue{output}}, {"", ImageValue{"src"}}}});
    return c;
}

Symptom children() {
    Symptom symptom;
    symptom.operation = "info";
    symptom.layer = LayerId::json;
    symptom.layer_name = "json";
    symptom.direction = Direction::differ;
    symptom.subject_class = symptom.reference_class = "succeeded";
    symptom.field = "-children";
    return symptom;
}

constexpr const char* old_tool = "qemu-img 7.2.22";
constexpr const char* new_tool = "qemu-img 10.0.13";

TEST(KnownFilter, SteersAwayFromCasesInside) {
    const Registry registry = registry_of(entry_text());
    const auto steered = [&](std::string_view mode, const std::string& subject,
                             const std::string& reference, const std::string& output) {
        KnownFilter filter(registry, plan_of(registry, mode, subject, reference));
        return filter.steered_by(info(output)) != nullptr;
    };
    EXPECT_TRUE(steered(known_steer, old_tool, new_tool, "json"));
    EXPECT_TRUE(steered(known_steer, new_tool, old_tool, "json"));
    EXPECT_FALSE(steered(known_steer, old_tool, new_tool, "human"));
    EXPECT_FALSE(steered(known_steer, old_tool, old_tool, "json"));
    EXPECT_FALSE(steered(known_steer, old_tool, "instar 10.0.13", "json"));
    EXPECT_FALSE(steered(known_enter, old_tool, new_tool, "json"));
    EXPECT_FALSE(steered(known_off, old_tool, new_tool, "json"));
}

TEST(KnownFilter, AnEntryForOneWayDoesNotHoldTheOtherWayRound) {
    const Registry registry =
        registry_of(with(entry_text(), "either_way = true", "either_way = false"));
    KnownFilter there(registry, plan_of(registry, known_steer, old_tool, new_tool));
    EXPECT_NE(there.steered_by(info("json")), nullptr);
    KnownFilter back(registry, plan_of(registry, known_steer, new_tool, old_tool));
    EXPECT_EQ(back.steered_by(info("json")), nullptr);
}

TEST(KnownFilter, AnEntryThatDoesNotSteerStillRecognises) {
    const Registry registry = registry_of(
        with(entry_text(), "either_way = true", "wide = \"every case\"\nsteer = false"));
    KnownFilter filter(registry, plan_of(registry, known_steer, old_tool, new_tool));
    EXPECT_EQ(filter.steered_by(info("json")), nullptr);
    EXPECT_EQ(filter.classify(info("json"), 1, children()).known, "sample");
}

TEST(KnownFilter, OnlyTheWholeEffectInsideThePredicateIsKnown) {
    const Registry registry = registry_of(entry_text());
    KnownFilter filter(registry, plan_of(registry, known_steer, old_tool, new_tool));
    EXPECT_EQ(filter.classify(info("json"), 1, children()), (Classification{"sample", {}}));
    // Outside of the predicate it is new, whatever it looks like.
    EXPECT_EQ(filter.classify(info("human"), 1, children()), Classification{});
    EXPECT_EQ(filter.classify(info("json"), 0, children()), Classification{});
    const auto changed = [&](auto change) {
        Symptom symptom = children();
        change(symptom);
        return filter.classify(info("json"), 1, symptom);
    };
    const Classification inside{"", {"sample"}};
    EXPECT_EQ(changed([](Symptom& s) { s.layer = LayerId::text; }), inside);
    EXPECT_EQ(changed([](Symptom& s) { s.direction = Direction::subject; }), inside);
    EXPECT_EQ(changed([](Symptom& s) { s.subject_class = "refused"; }), inside);
    EXPECT_EQ(changed([](Symptom& s) { s.reference_class = "crashed"; }), inside);
    EXPECT_EQ(changed([](Symptom& s) { s.field = "-children,~format"; }), inside);
    EXPECT_EQ(changed([](Symptom& s) { s.subject_message = "x"; }), inside);
    EXPECT_EQ(changed([](Symptom& s) { s.reference_message = "x"; }), inside);
}

TEST(KnownFilter, TheOtherWayRoundTheEffectIsMirrored) {
    const Registry registry = registry_of(entry_text());
    KnownFilter filter(registry, plan_of(registry, known_enter, new_tool, old_tool));
    Symptom symptom = children();
    EXPECT_EQ(filter.classify(info("json"), 1, symptom), (Classification{"", {"sample"}}));
    symptom.field = "+children";
    EXPECT_EQ(filter.classify(info("json"), 1, symptom).known, "sample");
    const Effect one{LayerId::json, Direction::subject, "crashed", "refused", "+z,-a,~m", "mine",
                     "yours"};
    EXPECT_EQ(mirrored(one), (Effect{LayerId::json, Direction::reference, "refused", "crashed",
                                     "+a,-z,~m", "yours", "mine"}));
    EXPECT_EQ(mirrored(mirrored(one)), one);
}

TEST(KnownFilter, GoesByTheRegistryOfThePlan) {
    const Registry registry = registry_of(entry_text());
    Plan plan = plan_of(registry, known_steer, old_tool, new_tool);
    plan.registry_digest = std::string(64, '0');
    EXPECT_THROW(KnownFilter(registry, plan), UsageError);
    plan.registry_mode = known_off;
    EXPECT_NO_THROW(KnownFilter(registry, plan));
    plan.registry_mode = "often";
    EXPECT_THROW(KnownFilter(registry, plan), UsageError);
}

TEST(KnownFilter, ABadPredicateIsRefusedWhateverToolsItIsAbout) {
    const Registry registry = registry_of(with(entry_text(), "EXISTS", "EXIST"));
    EXPECT_THROW(KnownFilter(registry, plan_of(registry, known_steer, "a 1", "b 1")), UsageError);
}

}  // namespace
}  // namespace difffuzz::test

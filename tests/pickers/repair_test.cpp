#include "pickers/repair.hpp"

#include <map>

#include <gtest/gtest.h>

#include "images/format.hpp"
#include "ops/operation.hpp"
#include "pickers/repair_damage.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

Case case_of(std::vector<Argument> arguments, std::vector<Damage> damage = {}) {
    Case c;
    c.operation = "repair";
    c.images.push_back({"src", "qcow2", 1 << 20, {}, {}, {}});
    c.images[0].damage = std::move(damage);
    arguments.push_back({"", ImageValue{"src"}});
    c.steps.push_back({Actor::tool, "repair", "check", ValidIntent{}, std::move(arguments)});
    return c;
}

const std::vector<Argument> all{{"-r", WordValue{"all"}}};

using Names = std::vector<std::string>;

Names rules_of(const Case& c) {
    Names names;
    for (const Violation& violation : validate(c)) {
        names.push_back(violation.rule);
    }
    return names;
}

Names rules_of(Argument more) {
    std::vector<Argument> arguments = all;
    arguments.push_back(std::move(more));
    return rules_of(case_of(std::move(arguments)));
}

TEST(RepairPicker, TakesBothKindsOfRepair) {
    EXPECT_EQ(rules_of(case_of(all)), Names{});
    EXPECT_EQ(rules_of(case_of({{"-r", WordValue{"leaks"}}})), Names{});
    EXPECT_EQ(rules_of(case_of({})), Names{"envelope"});
    EXPECT_EQ(rules_of(case_of({{"-r", WordValue{"some"}}})), Names{"envelope"});
    EXPECT_EQ(rules_of({"-U", std::nullopt}), Names{"shared-repair"});
    EXPECT_EQ(rules_of({"-f", WordValue{"raw"}}), Names{"no-repair-support"});
    EXPECT_EQ(rules_of({"-f", WordValue{"vdi"}}), Names{"other-format"});
}

TEST(RepairPicker, KnowsWhichFormatsCanBeRepaired) {
    for (const auto& [format, wanted] : std::map<std::string, Names>{
             {"qcow2", {}},
             {"qed", {}},
             {"vhdx", {}},
             {"parallels", {}},
             {"vmdk", {"no-repair-support"}},
             {"vdi", {"no-repair-support"}},
             {"raw", {"no-repair-support"}},
         }) {
        Case c = case_of(all);
        c.images[0].format = format;
        EXPECT_EQ(rules_of(c), wanted) << format;
    }
}

TEST(RepairPicker, KeepsClearOfWhatTheReferenceGetsWrong) {
    Case c = case_of(all);
    c.images[0].bitmaps = {{"dirty", 65536, true, {}}};
    EXPECT_EQ(rules_of(c), Names{});
    c.images[0].snapshots = {{"one", 0}};
    EXPECT_EQ(rules_of(c), Names{"bitmaps-and-snapshots"});
    EXPECT_EQ(rules_of(case_of(all, {{"header.snapshots", 0, 1001}})), Names{"many-snapshots"});
    EXPECT_EQ(rules_of(case_of(all, {{"header.snapshots", 0, 3}})), Names{});
    EXPECT_EQ(rules_of(case_of(all, {{"header.autoclear", 0, 5}})), Names{"claims-bitmaps"});
    Case cut = case_of(all, {{"length", 0, 512}});
    EXPECT_EQ(rules_of(cut), Names{});
    cut.images[0].format = "parallels";
    EXPECT_EQ(rules_of(cut), Names{"cut-parallels"});
}

TEST(RepairPicker, DamagesMostOfItsCasesInEveryWay) {
    Plan plan = default_plan();
    plan.operations = {{"repair", 1}};
    std::map<std::string, unsigned> fields;
    unsigned damaged = 0;
    unsigned spared = 0;
    constexpr unsigned draws = 3000;
    for (std::uint64_t i = 0; i < draws; ++i) {
        const Case c = draw_case(plan, 3, i, 0);
        ASSERT_EQ(rules_of(c), Names{}) << i;
        if (intent_name(c) != "damaged") {
            continue;
        }
        ++damaged;
        bool spares = true;
        for (const ImageRecipe& image : c.images) {
            spares = spares && spares_data(image);
            for (const Damage& damage : image.damage) {
                ++fields[damage.field];
            }
        }
        spared += spares ? 1U : 0U;
    }
    EXPECT_GE(damaged, draws * 60 / 100);
    EXPECT_GE(spared, draws * 20 / 100);
    for (const std::string_view field :
         {"refcount_block.byte", "refcount_table.entry", "l1.flags", "l2.flags", "l2.entry",
          "header.incompatible", "snapshot_l1.entry", "bytes", "length"}) {
        EXPECT_GE(fields[std::string(field)], 20U) << field;
    }
    plan.damaged_percent = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        EXPECT_NE(intent_name(draw_case(plan, 3, i, 0)), "damaged") << i;
    }
}

TEST(RepairDamage, OfCountsAndCopiedFlagsSparesData) {
    const auto spares = [](const std::string& field, std::uint64_t value) {
        return spares_data(case_of(all, {{field, 0, value}}).images[0]);
    };
    EXPECT_TRUE(spares_data(case_of(all).images[0]));
    EXPECT_TRUE(spares("refcount_block.byte", 0));
    EXPECT_TRUE(spares("refcount_block.byte", 77));
    EXPECT_TRUE(spares("header.refcount_table_offset", UINT64_MAX));
    EXPECT_TRUE(spares("l2.flags", 0));
    EXPECT_TRUE(spares("l2.flags", 0x80));
    EXPECT_FALSE(spares("l2.flags", 0x40));
    EXPECT_FALSE(spares("l2.entry", 0));
    EXPECT_FALSE(spares("bytes", 0));
    EXPECT_FALSE(
        spares_data(case_of(all, {{"refcount_block.byte", 0, 0}, {"l1.entry", 0, 0}}).images[0]));
}

}  // namespace
}  // namespace difffuzz

// What is asked of a repaired image.
#include "ops/repair.hpp"

#include <gtest/gtest.h>

#include "support/observations.hpp"

namespace difffuzz {
namespace {

Case case_of(std::vector<Damage> damage) {
    Case c;
    c.operation = "repair";
    c.images.push_back({"low", "qcow2", 1 << 20, {}, {}, {}});
    c.images.push_back({"src", "qcow2", 1 << 20, {}, "low", {}});
    c.images[0].damage = std::move(damage);
    c.steps.push_back({Actor::tool,
                       "repair",
                       "check",
                       ValidIntent{},
                       {{"-r", WordValue{"all"}}, {"", ImageValue{"low"}}}});
    return c;
}

// "content of low, check of low, ..." of the requests that hold for a damaged case.
std::string asked_despite_damage(const Case& c) {
    std::string asked;
    for (const InspectionRequest& request : repair_operation().inspections(c, 0)) {
        if (request.despite_damage && request.kind != InspectionKind::info) {
            asked += std::string(to_string(request.kind)) + " of " + request.image + ", ";
        }
    }
    return asked;
}

TEST(Repair, AsksForDataWhereTheDamageSparesThem) {
    EXPECT_EQ(asked_despite_damage(case_of({{"refcount_block.byte", 3, 0}})),
              "content of low, check of low, bitmaps of low, content of src, ");
    EXPECT_EQ(asked_despite_damage(case_of({{"l2.entry", 3, 0}})), "check of low, ");
    Case c = case_of({{"refcount_block.byte", 3, 0}});
    c.images[0].bitmaps = {{"dirty", 65536, true, {}}};
    EXPECT_EQ(asked_despite_damage(c), "") << "bitmaps are written after the check";
    std::swap(c.images[0].damage, c.images[1].damage);
    EXPECT_EQ(asked_despite_damage(c), "content of low, bitmaps of low, ")
        << "what is not repaired may not open";
}

LayerResult check_of(const test::Scene& scene) {
    for (const LayerReport& report : compare_step(repair_operation(), scene.view())) {
        if (report.id == LayerId::check) {
            return report.result;
        }
    }
    return LayerResult::agree();
}

TEST(Repair, OfADamagedImageMustLeaveItCleanWhereItSaysSo) {
    test::Scene scene;
    scene.c.steps[0].intent = DamagedIntent{};
    scene.may_change = {"src"};
    scene.inspect(InspectionKind::check, "src", CheckFinding{0, 1, 0}, CheckFinding{});
    EXPECT_EQ(check_of(scene).reason, "damaged image");
    scene.requests[0].despite_damage = true;
    ASSERT_TRUE(check_of(scene).difference);
    EXPECT_EQ(check_of(scene).difference->severity, Severity::corruption);
    scene.reference.steps[0].inspections[0].finding = CheckFinding{0, 1, 0};
    ASSERT_TRUE(check_of(scene).difference);
    EXPECT_EQ(check_of(scene).difference->severity, Severity::reference);
    scene.subject_outcome().ending = test::exited(3);
    scene.reference_outcome().ending = test::exited(3);
    EXPECT_EQ(check_of(scene).reason, "damaged image");
}

}  // namespace
}  // namespace difffuzz

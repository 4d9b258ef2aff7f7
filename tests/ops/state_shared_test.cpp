#include "ops/state_shared.hpp"

#include <gtest/gtest.h>

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = 1 << 20;

// "top" is committed into "mid", which grows and has a snapshot of its old size.
Case growing(const std::string& lowest_format) {
    Case c;
    c.operation = "commit";
    ImageRecipe low;
    low.id = "low";
    low.format = lowest_format;
    low.size = mib;
    ImageRecipe mid = low;
    mid.id = "mid";
    mid.format = "qcow2";
    mid.backing = "low";
    mid.snapshots = {{"old", 0}};
    ImageRecipe top = mid;
    top.id = "top";
    top.size = 2 * mib;
    top.backing = "mid";
    top.snapshots.clear();
    c.images = {low, mid, top};
    c.steps = {{Actor::tool, "commit", "commit", ValidIntent{}, {{"", ImageValue{"top"}}}}};
    return c;
}

std::vector<std::string> snapshots_looked_at(const Case& c) {
    std::vector<std::string> ids;
    for (const InspectionRequest& request : state_inspections(c, 0)) {
        if (!request.snapshot.empty()) {
            ids.push_back(request.image + "@" + request.snapshot);
        }
    }
    return ids;
}

TEST(StateInspections, ReadSnapshotsOfAnotherSizeWhereWeCan) {
    EXPECT_EQ(snapshots_looked_at(growing("raw")), std::vector<std::string>{"mid@1"});
    EXPECT_EQ(snapshots_looked_at(growing("vhdx")), std::vector<std::string>{})
        << "there is no reader of vhdx, and qemu-img shows the snapshot in the image's size";
    Case same = growing("vhdx");
    same.images.back().size = mib;
    EXPECT_EQ(snapshots_looked_at(same), std::vector<std::string>{"mid@1"});
}

}  // namespace
}  // namespace difffuzz

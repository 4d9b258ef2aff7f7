#include <gtest/gtest.h>

#include "campaign/triage/fingerprint.hpp"

namespace difffuzz {
namespace {

Case info_of(std::vector<Damage> damage) {
    Case c;
    c.operation = "info";
    c.images.push_back({"src", "vdi", 1 << 20, {}, {}, {}});
    c.images.back().damage = std::move(damage);
    c.steps.push_back({Actor::tool, "info", "info", DamagedIntent{}, {{"", ImageValue{"src"}}}});
    return c;
}

TEST(Fingerprint, PointersPastTheEndHaveBucketsOfTheirOwn) {
    Symptom symptom;
    symptom.operation = "info";
    const auto of = [&](std::vector<Damage> damage) {
        return unshrunk_fingerprint(info_of(std::move(damage)), 0, symptom);
    };
    const Damage past{"map.entry", 0, 1 << 20};
    EXPECT_EQ(of({past}), of({past, past}));
    EXPECT_NE(of({past}), of({}));
    EXPECT_EQ(of({past, {"bytes", 0, 1}}), of({}));
    EXPECT_EQ(of({{"header.signature", 0, 1}}), of({}));
}

}  // namespace
}  // namespace difffuzz

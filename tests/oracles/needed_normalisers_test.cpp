// Which normalisers agreements rest on.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracles/needed_normalisers.hpp"
#include "support/observations.hpp"

namespace difffuzz::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Names = std::vector<std::string_view>;

TEST(NeededNormalisers, AreFoundByLeavingEachOut) {
    const Names names{"a", "b", "c"};
    EXPECT_THAT(needed_of(names, [](const auto&) { return true; }), IsEmpty());
    EXPECT_THAT(needed_of(names, [](const auto& on) { return on[0] && on[2]; }),
                ElementsAre("a", "c"));
    // Two that do the same: one of them is enough.
    EXPECT_THAT(needed_of(names, [](const auto& on) { return on[0] || on[1]; }), ElementsAre("b"));
}

Scene printing(const std::string& subject, const std::string& reference) {
    Scene scene;
    scene.text_normalisers = {&elapsed_time_text(), &progress_text()};
    scene.subject_outcome().out = stream(subject);
    scene.reference_outcome().out = stream(reference);
    return scene;
}

TEST(NeededNormalisers, OfTextAreCountedWhereTheTextsDiffer) {
    const std::string quick = "Run completed in 0.010 seconds.\n";
    const std::string slow = "Run completed in 0.020 seconds.\n";
    EXPECT_THAT(printing(quick, quick).run(LayerId::text).needed, IsEmpty());
    EXPECT_THAT(printing(quick, slow).run(LayerId::text).needed, ElementsAre("elapsed_time"));
    EXPECT_THAT(printing(quick, slow).run(LayerId::header).needed, ElementsAre("elapsed_time"));
    EXPECT_THAT(printing("/side/0/w/a\n", "/side/1/w/a\n").run(LayerId::text).needed,
                ElementsAre("harness_path"));
    EXPECT_THAT(printing("    (12.00/100%)\r" + quick, slow).run(LayerId::text).needed,
                ElementsAre("elapsed_time", "progress"));
    const LayerResult apart = printing(quick, "Run completed in time.\n").run(LayerId::text);
    EXPECT_EQ(apart.verdict, LayerVerdict::diverge);
    EXPECT_THAT(apart.needed, IsEmpty());
}

TEST(NeededNormalisers, OfMessagesThatContainOneAnotherAreNone) {
    Scene scene;
    scene.both_refuse("#block12: no medium");
    EXPECT_THAT(scene.run(LayerId::error).needed, IsEmpty());
    scene.subject_outcome().err = stream("qemu-img: #block34: no medium\n");
    EXPECT_THAT(scene.run(LayerId::error).needed, ElementsAre("node_name"));
    scene.subject_outcome().err = stream("qemu-img: no medium\n");
    EXPECT_THAT(scene.run(LayerId::error).needed, IsEmpty());
}

TEST(NeededNormalisers, OfJsonAreCountedForStdoutAndForEachImage) {
    Scene scene;
    scene.json_normalisers = {&disk_size_json(), &vmdk_cid_json()};
    scene.subject_outcome().out = stream(R"({"actual-size": 1})");
    scene.reference_outcome().out = stream(R"({"actual-size": 2})");
    scene.inspect(InspectionKind::info, "src", InfoFinding{{{"actual-size", 1}}},
                  InfoFinding{{{"actual-size", 3}}});
    EXPECT_THAT(scene.run(LayerId::json).needed, ElementsAre("disk_size", "disk_size"));
    scene.reference_outcome().out = scene.subject_outcome().out;
    EXPECT_THAT(scene.run(LayerId::json).needed, ElementsAre("disk_size"));
}

}  // namespace
}  // namespace difffuzz::test

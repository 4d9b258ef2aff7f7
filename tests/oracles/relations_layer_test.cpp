// relations: what must fit together in what one tool says and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracles/relations.hpp"
#include "tests/support/observations.hpp"

namespace difffuzz {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t mib = 1 << 20;

Difference diverged(const Scene& scene) { return scene.run(LayerId::relations).difference.value(); }

// A scene whose step reads src (1 MiB) by `command`.
Scene reading(const std::string& command, std::vector<Argument> arguments = {}) {
    Scene scene;
    scene.c.outputs.clear();
    scene.may_change.clear();
    Step& step = scene.c.steps[0];
    step.operation = step.command = command;
    step.arguments = std::move(arguments);
    step.arguments.push_back({"", ImageValue{"src"}});
    for (Observation* side : {&scene.subject, &scene.reference}) {
        side->steps[0].files = side->initial;
    }
    return scene;
}

// A convert of src to out, and then a measure that asks for the same. Both sides say that 400,000
// bytes are required and write 327,680.
Scene measuring(std::vector<FormatOption> options = {}) {
    Scene scene;
    std::vector<Argument> arguments{{"-O", WordValue{"qcow2"}}};
    if (!options.empty()) {
        arguments.push_back({"-o", OptionList{options}});
    }
    arguments.push_back({"", ImageValue{"src"}});
    Step& convert = scene.c.steps[0];
    convert.arguments = arguments;
    convert.arguments.push_back({"", ImageValue{"out"}});
    Step measure = convert;
    measure.operation = measure.command = "measure";
    measure.arguments = arguments;
    scene.c.steps.push_back(measure);
    for (Observation* side : {&scene.subject, &scene.reference}) {
        side->steps.push_back(side->steps[0]);
        side->steps[1].outcome.out =
            stream("required size: 400000\nfully allocated size: 900000\n");
    }
    return scene;
}

// Scene::view() is of the first step.
LayerResult run_second(const Scene& scene) {
    Comparison comparison = scene.view();
    comparison.step = 1;
    return layer(LayerId::relations).compare(comparison);
}

FileEntry& written(Observation& side) { return side.steps[1].files[0]; }

TEST(Relations, EachHasANameAndAPurpose) {
    for (const Relation& relation : relations()) {
        EXPECT_FALSE(relation.name.empty());
        EXPECT_FALSE(relation.purpose.empty());
    }
}

// The planted fault that no other layer catches: both say the same, and only the subject writes
// more. The sizes of images are compared nowhere else.
TEST(Relations, ASubjectThatWritesMoreThanItMeasuredIsTold) {
    Scene scene = measuring();
    EXPECT_EQ(run_second(scene).verdict, LayerVerdict::agree);
    written(scene.subject).bytes = 400'000;
    EXPECT_EQ(run_second(scene).verdict, LayerVerdict::agree);
    written(scene.subject).bytes = 400'001;
    std::vector<LayerId> found;
    Comparison comparison = scene.view();
    comparison.step = 1;
    for (const Layer& row : layers()) {
        if (row.compare(comparison).verdict == LayerVerdict::diverge) {
            found.push_back(row.id);
        }
    }
    EXPECT_THAT(found, ElementsAre(LayerId::relations));
    const Difference difference = run_second(scene).difference.value();
    EXPECT_EQ(difference.symptom.field, "measured-bound");
    EXPECT_EQ(difference.symptom.direction, Direction::subject);
    EXPECT_EQ(difference.severity, Severity::disagreement);
    EXPECT_EQ(difference.details.at("subject").at("written"), 400'001);
    EXPECT_EQ(difference.details.at("reference").at("said"), 400'000);
}

TEST(Relations, WhatTheReferenceBreaksTooIsItsOwn) {
    Scene scene = measuring();
    written(scene.reference).bytes = 500'000;
    EXPECT_EQ(run_second(scene).difference.value().symptom.direction, Direction::reference);
    EXPECT_EQ(run_second(scene).difference.value().severity, Severity::reference);
    written(scene.subject).bytes = 600'000;
    EXPECT_EQ(run_second(scene).difference.value().symptom.direction, Direction::both);
    EXPECT_EQ(run_second(scene).difference.value().severity, Severity::reference);
}

TEST(Relations, MeasureInJsonIsReadAsWell) {
    Scene scene = measuring();
    scene.subject.steps[1].outcome.out =
        stream(R"({"required": 300000, "fully-allocated": 900000})");
    EXPECT_EQ(run_second(scene).difference.value().symptom.direction, Direction::subject);
}

TEST(Relations, MetadataPreallocationIsBoundByTheFullSize) {
    Scene scene = measuring({{"preallocation", WordValue{"metadata"}}});
    written(scene.subject).bytes = 900'000;
    EXPECT_EQ(run_second(scene).verdict, LayerVerdict::agree);
    written(scene.subject).bytes = 900'001;
    EXPECT_EQ(run_second(scene).verdict, LayerVerdict::diverge);
}

TEST(Relations, OnlyAConvertThatWasMeasuredIsBound) {
    const auto apart = [](auto change) {
        Scene scene = measuring();
        written(scene.subject).bytes = 1'000'000;
        change(scene.c.steps[0]);
        return run_second(scene).reason;
    };
    const auto given = [&](Argument argument) {
        return apart(
            [&](Step& convert) { convert.arguments.insert(convert.arguments.begin(), argument); });
    };
    constexpr auto nothing = "nothing that must fit together";
    EXPECT_EQ(given({"-S", SizeValue{0, "0"}}), nothing);
    EXPECT_EQ(given({"-n", std::nullopt}), nothing);
    EXPECT_EQ(given({"--bitmaps", std::nullopt}), nothing);
    EXPECT_EQ(given({"-l", WordValue{"one"}}), nothing);
    EXPECT_EQ(given({"-o", OptionList{{{"compat", WordValue{"v2"}}}}}), nothing);
    EXPECT_EQ(given({"", ImageValue{"src"}}), nothing);
    EXPECT_EQ(apart([](Step& convert) { convert.arguments[0].value = WordValue{"raw"}; }), nothing);
    EXPECT_EQ(given({"-S", SizeValue{4096, "4k"}}), "");
    Scene gone = measuring();
    gone.subject.steps[1].files.erase(gone.subject.steps[1].files.begin());
    gone.reference.steps[1].files.erase(gone.reference.steps[1].files.begin());
    EXPECT_EQ(run_second(gone).reason, nothing);
    Scene refused = measuring();
    refused.subject.steps[0].outcome.ending = Exited{1};
    refused.reference.steps[0].outcome.ending = Exited{1};
    EXPECT_EQ(run_second(refused).reason, nothing);
}

TEST(Relations, InfoSaysTheSizeOfTheImage) {
    Scene scene = reading("info");
    scene.both_print("image: src.qcow2\nvirtual size: 1 MiB (1048576 bytes)\n");
    EXPECT_EQ(scene.run(LayerId::relations).verdict, LayerVerdict::agree);
    scene.both_print("image: src.qcow2\nvirtual size: 2 MiB (2097152 bytes)\n");
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::relations));
    EXPECT_EQ(diverged(scene).symptom.field, "info-size");
    EXPECT_EQ(diverged(scene).severity, Severity::reference);
    scene.both_print(R"({"virtual-size": 1048577})");
    EXPECT_EQ(diverged(scene).symptom.field, "info-size");
    scene.both_print(R"([{"virtual-size": 1048576}, {"virtual-size": 7}])");
    EXPECT_EQ(scene.run(LayerId::relations).verdict, LayerVerdict::agree);
    scene.both_print("nothing of the kind\n");
    EXPECT_EQ(reason_of(scene, LayerId::relations), "nothing that must fit together");
}

// A tool that is not told the format of a fixed vpc, or of what is damaged, may guess raw.
TEST(Relations, AnImageThatMayBeTakenForRawHasNoKnownSize) {
    const auto verdict = [](const ImageRecipe& like, bool told) {
        Scene scene = reading("info", told ? std::vector<Argument>{{"-f", WordValue{like.format}}}
                                           : std::vector<Argument>{});
        for (ImageRecipe& image : scene.c.images) {
            image.format = like.format;
            image.options = like.options;
            image.damage = like.damage;
        }
        for (Observation* side : {&scene.subject, &scene.reference}) {
            side->steps[0].outcome.out = stream(R"({"virtual-size": 12345})");
        }
        return scene.run(LayerId::relations).verdict;
    };
    ImageRecipe dynamic;
    dynamic.format = "vpc";
    ImageRecipe fixed = dynamic;
    fixed.options = {{"subformat", WordValue{"fixed"}}};
    ImageRecipe damaged = dynamic;
    damaged.damage = {{"footer.cookie", 0, 0}};
    EXPECT_EQ(verdict(dynamic, false), LayerVerdict::diverge);
    for (const ImageRecipe& image : {fixed, damaged}) {
        EXPECT_EQ(verdict(image, false), LayerVerdict::not_applicable);
        EXPECT_EQ(verdict(image, true), LayerVerdict::diverge);
    }
}

TEST(Relations, AnImageThatAnEarlierStepNamedHasNoKnownSize) {
    Scene scene = reading("info");
    scene.both_print(R"({"virtual-size": 5})");
    EXPECT_EQ(scene.run(LayerId::relations).verdict, LayerVerdict::diverge);
    scene.c.steps.push_back(scene.c.steps[0]);
    for (Observation* side : {&scene.subject, &scene.reference}) {
        side->steps.push_back(side->steps[0]);
    }
    EXPECT_EQ(run_second(scene).reason, "nothing that must fit together");
}

TEST(Relations, AWrittenImageHasOneSize) {
    Scene scene;
    scene.inspect(InspectionKind::content, "out", ContentFinding{{mib, {}}, {}},
                  ContentFinding{{mib, {}}, {}});
    const InfoFinding right{{{"virtual-size", mib}}};
    scene.inspect(InspectionKind::info, "out", right, right);
    EXPECT_EQ(scene.run(LayerId::relations).verdict, LayerVerdict::agree);
    const InfoFinding wrong{{{"virtual-size", mib + 512}}};
    scene.subject.steps[0].inspections[1].finding = wrong;
    EXPECT_EQ(diverged(scene).symptom.field, "written-size");
    EXPECT_EQ(diverged(scene).symptom.direction, Direction::subject);
}

TEST(Relations, ExtentsOfAMapAddUp) {
    Scene scene = reading("map", {{"--output", WordValue{"json"}}});
    const auto verdict = [&](const std::string& map) {
        scene.both_print(map);
        return scene.run(LayerId::relations).verdict;
    };
    EXPECT_EQ(verdict(R"([{"start":0,"length":65536},{"start":65536,"length":983040}])"),
              LayerVerdict::agree);
    EXPECT_EQ(verdict(R"([{"start":0,"length":65536},{"start":65536,"length":983039}])"),
              LayerVerdict::diverge);
    EXPECT_EQ(verdict(R"([{"start":0,"length":65536},{"start":65537,"length":983039}])"),
              LayerVerdict::diverge);
    EXPECT_EQ(diverged(scene).symptom.field, "map-extents");
    EXPECT_EQ(verdict("[]"), LayerVerdict::diverge);
    EXPECT_EQ(verdict(R"([{"from":0}])"), LayerVerdict::not_applicable);
    scene.c.steps[0].arguments.insert(
        scene.c.steps[0].arguments.begin(),
        {{"--start-offset", SizeValue{mib - 512, ""}}, {"--max-length", SizeValue{4096, ""}}});
    EXPECT_EQ(verdict(R"([{"start":1048064,"length":512}])"), LayerVerdict::agree);
    EXPECT_EQ(verdict(R"([{"start":1048064,"length":4096}])"), LayerVerdict::diverge);
}

TEST(Relations, CompareTellsOfAMismatchWhereThereIsOne) {
    Scene scene = reading("compare", {{"", ImageValue{"src"}}});
    const auto verdict = [&](const std::string& text, int code = 0) {
        scene.both_print(text);
        scene.subject_outcome().ending = scene.reference_outcome().ending = Exited{code};
        Comparison comparison = scene.view();
        comparison.answer_codes = {1};
        return layer(LayerId::relations).compare(comparison).verdict;
    };
    constexpr auto warning = "Warning: Image size mismatch!\nImages are identical.\n";
    EXPECT_EQ(verdict("Images are identical.\n"), LayerVerdict::agree);
    EXPECT_EQ(verdict(warning), LayerVerdict::diverge);
    ImageRecipe other = scene.c.images[0];
    other.id = "other";
    other.size *= 2;
    scene.c.images.push_back(other);
    scene.c.steps[0].arguments[1].value = ImageValue{"other"};
    EXPECT_EQ(verdict(warning), LayerVerdict::agree);
    EXPECT_EQ(verdict("Images are identical.\n"), LayerVerdict::diverge);
    EXPECT_EQ(verdict("Content mismatch at offset 0!\n", 1), LayerVerdict::agree);
    scene.c.steps[0].arguments.insert(scene.c.steps[0].arguments.begin(), {"-s", std::nullopt});
    EXPECT_EQ(verdict(warning), LayerVerdict::diverge);
    EXPECT_EQ(verdict("Content mismatch at offset 0!\n", 1), LayerVerdict::diverge);
    EXPECT_EQ(verdict("Strict mode: Image size mismatch!\n", 1), LayerVerdict::agree);
}

TEST(Relations, ACopyOfACopyIsTheCopy) {
    Scene scene;
    const VirtualContent content{mib, {{128, 7}}};
    scene.c.steps[0].arguments = {{"", ImageValue{"src"}}, {"", ImageValue{"out"}}};
    scene.inspect(InspectionKind::content, "out", ContentFinding{content, {}},
                  ContentFinding{content, {}});
    scene.c.outputs.push_back({"again", "qcow2"});
    scene.c.steps.push_back(scene.c.steps[0]);
    scene.c.steps[1].arguments = {{"", ImageValue{"out"}}, {"", ImageValue{"again"}}};
    for (Observation* side : {&scene.subject, &scene.reference}) {
        side->steps.push_back(side->steps[0]);
        side->steps[1].inspections[0].image = "again";
    }
    EXPECT_EQ(run_second(scene).verdict, LayerVerdict::agree);
    auto& finding = scene.subject.steps[1].inspections[0].finding;
    finding = ContentFinding{{mib, {{128, 8}}}, {}};
    EXPECT_EQ(run_second(scene).difference.value().symptom.field, "converted-again");
    finding = ContentFinding{{2 * mib, {{128, 7}}}, {}};
    EXPECT_EQ(run_second(scene).verdict, LayerVerdict::agree);
    finding = ContentFinding{{mib / 2, {{128, 7}}}, {}};
    EXPECT_EQ(run_second(scene).verdict, LayerVerdict::diverge);
}

TEST(Relations, NothingIsAskedOfARefusal) {
    Scene scene = reading("info");
    scene.both_print(R"({"virtual-size": 5})");
    scene.both_refuse("no");
    EXPECT_EQ(reason_of(scene, LayerId::relations), "not done by both");
    EXPECT_THAT(diverging(scene), IsEmpty());
}

}  // namespace
}  // namespace difffuzz

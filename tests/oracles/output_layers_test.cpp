// header, json, text: what a command printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/observations.hpp"

namespace difffuzz {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

Scene json_scene(const std::string& subject, const std::string& reference) {
    Scene scene;
    scene.c.steps[0].arguments.push_back({"--output", WordValue{"json"}});
    scene.subject_outcome().out = stream(subject);
    scene.reference_outcome().out = stream(reference);
    return scene;
}

std::string json_field(const Scene& scene) {
    return scene.run(LayerId::json).difference.value().symptom.field;
}

TEST(Header, TheFirstLineIsHeldByteForByte) {
    Scene scene;
    scene.both_print("Sending 10 read requests\nsame\n");
    EXPECT_EQ(scene.run(LayerId::header).verdict, LayerVerdict::agree);
    scene.subject_outcome().out = stream("Sending 11 read requests\nsame\n");
    const Difference difference = scene.run(LayerId::header).difference.value();
    EXPECT_EQ(difference.severity, Severity::disagreement);
    EXPECT_EQ(difference.symptom.direction, Direction::differ);
    EXPECT_EQ(difference.symptom.subject_message, "Sending <n> read requests");
    scene.subject_outcome().out = stream("");
    EXPECT_EQ(scene.run(LayerId::header).verdict, LayerVerdict::diverge);
    scene.both_print("no end");
    scene.reference_outcome().out = stream("no end\n");
    EXPECT_EQ(scene.run(LayerId::header).verdict, LayerVerdict::diverge);
}

TEST(Header, NeedsOutputAndText) {
    EXPECT_EQ(reason_of(Scene{}, LayerId::header), "nothing printed");
    EXPECT_EQ(reason_of(json_scene("{}", "{}"), LayerId::header), "stdout is JSON");
    Scene scene;
    scene.subject_outcome().out = cut_stream("no line end", "tail");
    EXPECT_EQ(reason_of(scene, LayerId::header), "output cut");
    scene.subject_outcome().out = cut_stream("a line\nmore", "tail");
    scene.reference_outcome().out = stream("a line\n");
    EXPECT_EQ(scene.run(LayerId::header).verdict, LayerVerdict::agree);
}

TEST(Header, NormalisersOfTheOperationHold) {
    Scene scene;
    scene.subject_outcome().out = stream("disk size: 4 KiB\n");
    scene.reference_outcome().out = stream("disk size: 196 KiB\n");
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::header, LayerId::text));
    scene.text_normalisers = {&disk_size_text()};
    EXPECT_THAT(diverging(scene), IsEmpty());
}

TEST(Text, ALaterLineIsCaughtByThisLayerAlone) {
    Scene scene;
    scene.subject_outcome().out = stream("a\nb 1\nc\n");
    scene.reference_outcome().out = stream("a\nb 2\nc\n");
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::text));
    const Difference difference = scene.run(LayerId::text).difference.value();
    EXPECT_EQ(difference.symptom.field, "line");
    EXPECT_EQ(difference.symptom.subject_message, "b <n>");
    EXPECT_EQ(difference.details.at("line"), 2);
    EXPECT_EQ(difference.details.at("reference"), "b 2\\n");
    scene.subject_outcome().out = stream("a\nb 2\nc");
    EXPECT_EQ(scene.run(LayerId::text).verdict, LayerVerdict::diverge);
}

TEST(Text, AWarningOfASuccessOnOneSideIsADetail) {
    Scene scene;
    scene.subject_outcome().err = stream("qemu-img: warning: deprecated\n");
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::text));
    const Difference difference = scene.run(LayerId::text).difference.value();
    EXPECT_EQ(difference.symptom.field, "stderr");
    EXPECT_EQ(difference.severity, Severity::detail);

    Scene json = json_scene("{}", "{}");
    json.reference_outcome().err = stream("qemu-img: warning\n");
    EXPECT_THAT(diverging(json), ElementsAre(LayerId::text));
}

TEST(Text, SaysWhyItDoesNotCompare) {
    EXPECT_EQ(reason_of(Scene{}, LayerId::text), "nothing printed");
    EXPECT_EQ(reason_of(json_scene("{}", "{}"), LayerId::text), "stdout is JSON");
    Scene scene;
    scene.subject_outcome().out = cut_stream("a\n", "b");
    scene.reference_outcome().out = stream("a\n");
    EXPECT_EQ(reason_of(scene, LayerId::text), "output cut");
    scene.subject_outcome().ending = exited(1);
    EXPECT_EQ(reason_of(scene, LayerId::text), "outcome classes differ");
}

TEST(Text, WhatARefusalPrintedOnStdoutIsComparedToo) {
    Scene scene;
    scene.both_refuse("");
    scene.subject_outcome().err = scene.reference_outcome().err = stream("");
    scene.subject_outcome().out = stream("Images differ.\nContent mismatch at offset 512!\n");
    scene.reference_outcome().out = stream("Images differ.\nContent mismatch at offset 1024!\n");
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::text));
}

TEST(Text, HarnessPathsNeverDiffer) {
    Scene scene;
    scene.subject_outcome().out = stream("x\n/side/1/w/src.qcow2 by /tool/subject/qemu-img\n");
    scene.reference_outcome().out = stream("x\n/side/2/w/src.qcow2 by /tool/reference/qemu-img\n");
    EXPECT_THAT(diverging(scene), IsEmpty());
}

TEST(Json, FieldsThatDifferAreTheSymptom) {
    const Scene scene = json_scene(R"({"a":1,"b":{"c":[{"d":1}]},"n":0})",
                                   R"({"a":"1","b":{"c":[{"d":2}]},"z":0})");
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::json));
    EXPECT_EQ(json_field(scene), "!a,+n,-z,~b.c[].d");
    const Difference difference = scene.run(LayerId::json).difference.value();
    EXPECT_EQ(difference.details.at("source"), "stdout");
    EXPECT_EQ(difference.details.at("count"), 4);
    EXPECT_EQ(difference.severity, Severity::disagreement);
}

TEST(Json, SpellingAndOrderOfKeysDoNotCountButOrderOfElementsDoes) {
    EXPECT_THAT(diverging(json_scene("{\"a\":1,\"b\":2}", "{ \"b\": 2,\n \"a\": 1 }\n")),
                IsEmpty());
    EXPECT_EQ(json_field(json_scene("[{\"s\":0},{\"s\":1}]", "[{\"s\":1},{\"s\":0}]")), "~s");
    // Of a list and of one thing, the same cause.
    EXPECT_EQ(json_field(json_scene("{\"s\":0}", "{\"s\":1}")), "~s");
    EXPECT_EQ(json_field(json_scene("{\"a\":[{\"s\":0}]}", "{\"a\":[{\"s\":1}]}")), "~a[].s");
}

TEST(Json, NormalisersMaskOnlyTheirField) {
    Scene scene = json_scene(R"({"actual-size":1,"virtual-size":5})",
                             R"({"actual-size":2,"virtual-size":5})");
    EXPECT_EQ(json_field(scene), "~actual-size");
    scene.json_normalisers = {&disk_size_json()};
    EXPECT_THAT(diverging(scene), IsEmpty());
    scene.subject_outcome().out = stream(R"({"virtual-size":5})");
    EXPECT_EQ(json_field(scene), "-actual-size");
}

TEST(Json, OneSideThatIsNoJsonIsUnparseable) {
    const Scene scene = json_scene("{\"a\":", "{\"a\":1}");
    EXPECT_EQ(json_field(scene), "unparseable");
    EXPECT_EQ(scene.run(LayerId::json).difference->symptom.direction, Direction::subject);
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::json));
    EXPECT_EQ(json_scene("{}", "nothing").run(LayerId::json).difference->symptom.direction,
              Direction::reference);
    EXPECT_EQ(json_field(json_scene("", "[]")), "unparseable");
    EXPECT_EQ(json_field(json_scene("{\"a\":1,\"a\":1}", "{\"a\":1}")), "unparseable");
}

TEST(Json, WhatCannotBeToldIsInconclusive) {
    EXPECT_EQ(reason_of(json_scene("{", "{"), LayerId::json), "JSON malformed on both sides");
    const std::string deep = std::string(100, '[') + std::string(100, ']');
    EXPECT_EQ(reason_of(json_scene(deep, deep), LayerId::json), "JSON nested too deep");
    Scene scene = json_scene("{}", "{}");
    scene.subject_outcome().out = cut_stream("{\"a\":", "1}");
    EXPECT_EQ(reason_of(scene, LayerId::json), "output cut");
    EXPECT_EQ(scene.run(LayerId::json).verdict, LayerVerdict::inconclusive);
}

TEST(Json, TextOnBothSidesIsLeftToTheTextLayers) {
    Scene scene = json_scene("line\n", "line\n");
    EXPECT_EQ(reason_of(scene, LayerId::json), "no JSON to compare");
    EXPECT_EQ(scene.run(LayerId::header).verdict, LayerVerdict::agree);
    Scene unasked;
    unasked.subject_outcome().out = stream("{\"a\":1}");
    unasked.reference_outcome().out = stream("{\"a\":2}");
    EXPECT_THAT(diverging(unasked), ElementsAre(LayerId::json));
    unasked.both_print("[x] y\n");
    EXPECT_EQ(unasked.run(LayerId::header).verdict, LayerVerdict::agree);
}

TEST(Json, ReportsOfRefusalsAreCompared) {
    Scene scene = json_scene(R"({"leaks":1})", R"({"leaks":2})");
    scene.subject_outcome().ending = scene.reference_outcome().ending = exited(3);
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::json));
}

TEST(Json, MetadataOfWrittenImagesIsCompared) {
    Scene scene;
    scene.inspect(InspectionKind::info, "out", InfoFinding{{{"cluster-size", 65536}}},
                  InfoFinding{{{"cluster-size", 4096}}});
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::json));
    EXPECT_EQ(json_field(scene), "info:~cluster-size");

    Scene unreadable;
    unreadable.inspect(InspectionKind::info, "out", Unreadable{"bad magic"},
                       InfoFinding{nlohmann::json::object()});
    EXPECT_EQ(json_field(unreadable), "unreadable");
    EXPECT_EQ(unreadable.run(LayerId::json).difference->severity, Severity::corruption);
}

}  // namespace
}  // namespace difffuzz

// The second run of the subject against its first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracles/self_difference.hpp"
#include "support/observations.hpp"

namespace difffuzz::test {
namespace {

using testing::HasSubstr;

// Both sides did alike; the subject, and the reference if wanted, ran again.
struct Twice : Scene {
    Observation again = subject;
    std::optional<Observation> reference_again = {};
    std::vector<std::string> varies = {};

    Outcome& again_outcome() { return again.steps[0].outcome; }
    LayerResult compare() const {
        Comparison comparison = view();
        comparison.subject_again = &again;
        comparison.reference_again = reference_again ? &*reference_again : nullptr;
        comparison.reference_varies = &varies;
        return layer(LayerId::determinism).compare(comparison);
    }
    std::string differs() const {
        const LayerResult result = compare();
        return result.difference ? result.difference->symptom.field : result.reason;
    }
};

TEST(DeterminismLayer, AppliesToWhatRanAgain) {
    EXPECT_EQ(reason_of(Scene{}, LayerId::determinism), "not run again");
    EXPECT_EQ(Twice{}.compare().verdict, LayerVerdict::agree);
    Twice ended_early;
    ended_early.again.steps.clear();
    EXPECT_EQ(ended_early.differs(), "not run again");
    Twice limited;
    limited.again_outcome().ending = Limited{LimitKind::memory};
    EXPECT_EQ(limited.differs(), "no ending of the second run");
}

TEST(DeterminismLayer, TheFirstAspectThatDiffersIsTheField) {
    Twice scene;
    scene.again.steps[0].files.push_back({"more", FileType::regular, 1, 0});
    EXPECT_EQ(scene.differs(), "file");
    scene.again_outcome().err = stream("warning\n");
    EXPECT_EQ(scene.differs(), "stderr");
    scene.again_outcome().out = stream("12\n");
    EXPECT_EQ(scene.differs(), "stdout");
    scene.again_outcome().ending = Signalled{11, false};
    EXPECT_EQ(scene.differs(), "status");
    const Difference difference = scene.compare().difference.value();
    EXPECT_EQ(difference.severity, Severity::nondeterminism);
    EXPECT_EQ(difference.symptom.direction, Direction::subject);
    EXPECT_EQ(difference.symptom.subject_message, "");
    EXPECT_EQ(difference.details.at("differs"), "status");
    EXPECT_EQ(difference.details.at("first"), "exit status 0");
    EXPECT_EQ(difference.details.at("again"), "signal 11");
}

TEST(DeterminismLayer, NoOtherLayerSeesIt) {
    Twice scene;
    scene.again_outcome().out = stream("12\n");
    EXPECT_TRUE(diverging(scene).empty());
    EXPECT_EQ(scene.differs(), "stdout");
}

TEST(DeterminismLayer, SaysWhichLineDiffersBoundedAndEscaped) {
    Twice scene;
    scene.subject_outcome().out = stream("one\ntwo\n");
    scene.again_outcome().out = stream("one\nt\x1bwo" + std::string(5000, 'x') + "\n");
    const auto details = scene.compare().difference.value().details;
    EXPECT_EQ(details.at("first"), "two\\n");
    EXPECT_THAT(details.at("again"), HasSubstr("t\\x1Bwo"));
    EXPECT_LE(details.at("again").get<std::string>().size(), 400U);
    scene.again_outcome().out = stream("one\n");
    EXPECT_EQ(scene.compare().difference.value().details.at("again"), "");
}

TEST(DeterminismLayer, PlacesTimesAndWhatTheOperationMasksDoNotCount) {
    Twice scene;
    scene.text_normalisers = {&elapsed_time_text()};
    scene.subject_outcome().out = stream("Run completed in 0.010 seconds.\n");
    scene.again_outcome().out = stream("Run completed in 2.500 seconds.\n");
    EXPECT_EQ(scene.compare().verdict, LayerVerdict::agree);
    scene.text_normalisers = {};
    EXPECT_EQ(scene.differs(), "stdout");

    scene.subject_outcome().out =
        stream("/side/0/w/src.qcow2\n1  a  0 B 2026-01-31 23:59:58   00:00:00.000  0\n");
    scene.again_outcome().out = stream(
        "/side/3/a/deeper/place/w/src.qcow2\n1  a  0 B 2026-02-01 05:44:58   00:00:00.000  0\n");
    EXPECT_EQ(scene.compare().verdict, LayerVerdict::agree);

    scene.json_normalisers = {&disk_size_json()};
    scene.subject_outcome().out = stream(R"({"actual-size": 1, "b": 2})");
    scene.again_outcome().out = stream(R"({ "b": 2, "actual-size": 7 })");
    EXPECT_EQ(scene.compare().verdict, LayerVerdict::agree);
    scene.again_outcome().out = stream(R"({"actual-size": 1, "b": 3})");
    EXPECT_EQ(scene.differs(), "stdout");
}

TEST(DeterminismLayer, BytesOfImagesCountWhereTheReferenceRepeatsThem) {
    Twice scene;
    scene.again.steps[0].files[0].content_hash = 99;  // of the output
    EXPECT_EQ(scene.compare().verdict, LayerVerdict::agree);
    scene.bytes_stable = true;
    EXPECT_EQ(scene.differs(), "file");
    Twice input;
    input.again.steps[0].files[1].content_hash = 99;
    EXPECT_EQ(input.differs(), "file");
    input.may_change.push_back("src");
    EXPECT_EQ(input.compare().verdict, LayerVerdict::agree);
    // Other bytes since an earlier step that was free to write them.
    input.may_change.pop_back();
    input.again.initial[0].content_hash = 99;
    EXPECT_EQ(input.compare().verdict, LayerVerdict::agree);
    // What a refused command leaves of its output is not defined.
    Twice refused;
    refused.bytes_stable = true;
    refused.both_refuse("no");
    refused.again = refused.subject;
    refused.again.steps[0].files[0].content_hash = 99;
    EXPECT_EQ(refused.compare().verdict, LayerVerdict::agree);
}

TEST(DeterminismLayer, ContentsCountAlways) {
    Twice scene;
    const VirtualContent some{1 << 20, {{1, 5}}};
    const VirtualContent other{1 << 20, {{1, 6}}};
    scene.inspect(InspectionKind::content, "out", ContentFinding{some, {}},
                  ContentFinding{some, {}});
    scene.again = scene.subject;
    EXPECT_EQ(scene.compare().verdict, LayerVerdict::agree);
    scene.again.steps[0].inspections[0].finding = ContentFinding{other, {}};
    EXPECT_EQ(scene.differs(), "content");
    scene.again.steps[0].inspections[0].finding = Unreadable{"no header"};
    EXPECT_EQ(scene.differs(), "content");
    scene.again.steps[0].inspections[0].finding = NotInspected{"not a content"};
    EXPECT_EQ(scene.compare().verdict, LayerVerdict::agree);
}

TEST(DeterminismLayer, WhatTheReferenceDoesNotRepeatIsNoFaultOfTheSubject) {
    Twice scene;
    scene.again_outcome().out = stream("12\n");
    scene.reference_again = scene.reference;
    EXPECT_EQ(scene.differs(), "stdout");
    scene.reference_again->steps[0].outcome.err = stream("another aspect\n");
    EXPECT_EQ(scene.differs(), "stdout");
    scene.reference_again->steps[0].outcome.out = stream("13\n");
    EXPECT_EQ(scene.differs(), "the reference varies, too");

    scene.reference_again.reset();
    scene.varies = {"convert stderr", "info stdout"};
    EXPECT_EQ(scene.differs(), "stdout");
    scene.varies = {varying_name("convert", "stdout")};
    EXPECT_EQ(scene.differs(), "the reference varies, too");
}

}  // namespace
}  // namespace difffuzz::test

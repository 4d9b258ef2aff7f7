// inputs, files, check, bytes: what a command left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/observations.hpp"

namespace difffuzz {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

FileEntry& file(Observation& side, const std::string& name) {
    for (FileEntry& entry : side.steps[0].files) {
        if (entry.name == name) {
            return entry;
        }
    }
    throw std::logic_error("no such file in the scene");
}

void remove(Observation& side, const std::string& name) {
    std::erase_if(side.steps[0].files, [&](const FileEntry& entry) { return entry.name == name; });
}

Difference diverged(const Scene& scene, LayerId id) { return scene.run(id).difference.value(); }

TEST(Inputs, AChangedInputIsCorruptionOfTheSubject) {
    Scene scene;
    file(scene.subject, "src.qcow2").content_hash = 99;
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::inputs));
    EXPECT_EQ(diverged(scene, LayerId::inputs).severity, Severity::corruption);
    EXPECT_EQ(diverged(scene, LayerId::inputs).symptom.direction, Direction::subject);
    EXPECT_EQ(diverged(scene, LayerId::inputs).symptom.field, "content");
    file(scene.subject, "src.qcow2").bytes = 5;
    EXPECT_EQ(diverged(scene, LayerId::inputs).symptom.field, "size");
    remove(scene.subject, "src.qcow2");
    EXPECT_EQ(diverged(scene, LayerId::inputs).symptom.field, "removed");
}

TEST(Inputs, TheReferenceIsHeldToItAsWell) {
    Scene scene;
    file(scene.reference, "src.qcow2").content_hash = 99;
    EXPECT_EQ(diverged(scene, LayerId::inputs).severity, Severity::reference);
    EXPECT_EQ(diverged(scene, LayerId::inputs).symptom.direction, Direction::reference);
    file(scene.subject, "src.qcow2").content_hash = 99;
    EXPECT_EQ(diverged(scene, LayerId::inputs).severity, Severity::reference);
    EXPECT_EQ(diverged(scene, LayerId::inputs).symptom.direction, Direction::both);
    file(scene.subject, "src.qcow2").content_hash = 98;
    EXPECT_EQ(diverged(scene, LayerId::inputs).severity, Severity::corruption);
}

TEST(Inputs, WhatMayChangeMay) {
    Scene scene;
    file(scene.subject, "src.qcow2").content_hash = 99;
    scene.may_change = {"src", "out"};
    EXPECT_EQ(reason_of(scene, LayerId::inputs), "no image that must not change");
}

TEST(Inputs, AnOutputThatNoStepMadeBeforeIsNone) {
    Scene scene;
    scene.may_change.clear();
    EXPECT_EQ(scene.run(LayerId::inputs).verdict, LayerVerdict::agree);
}

TEST(Inputs, ACutListIsInconclusive) {
    Scene scene;
    remove(scene.subject, "src.qcow2");
    scene.subject.steps[0].files_cut = true;
    EXPECT_EQ(reason_of(scene, LayerId::inputs), "file list cut");
    scene.subject.initial.clear();
    EXPECT_EQ(reason_of(scene, LayerId::inputs), "image not listed before the step");
}

TEST(Files, ALeftoverAndAMissingOutputAreTold) {
    Scene scene;
    scene.subject.steps[0].files.push_back({"tmp.X1", FileType::regular, 5, 0});
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::files));
    EXPECT_EQ(diverged(scene, LayerId::files).symptom.field, "leftover");
    EXPECT_EQ(diverged(scene, LayerId::files).symptom.direction, Direction::subject);
    EXPECT_EQ(diverged(scene, LayerId::files).severity, Severity::disagreement);
    remove(scene.subject, "out.qcow2");
    EXPECT_EQ(diverged(scene, LayerId::files).symptom.field, "missing");
    EXPECT_EQ(diverged(scene, LayerId::files).details.at("count"), 2);

    Scene other;
    remove(other.reference, "out.qcow2");
    EXPECT_EQ(diverged(other, LayerId::files).symptom.direction, Direction::reference);
}

TEST(Files, WhatWasThereBeforeIsMissingAndNoLeftover) {
    Scene scene;
    const FileEntry notes{"notes", FileType::regular, 5, 0};
    scene.subject.initial.push_back(notes);
    scene.reference.initial.push_back(notes);
    scene.reference.steps[0].files.push_back(notes);
    EXPECT_EQ(diverged(scene, LayerId::files).symptom.field, "missing");
    EXPECT_EQ(diverged(scene, LayerId::files).symptom.direction, Direction::subject);
}

TEST(Files, SizesCountOnlyOfWhatIsNoImage) {
    Scene scene;
    file(scene.subject, "out.qcow2").bytes = 1;
    EXPECT_THAT(diverging(scene), IsEmpty());
    scene.subject.steps[0].files.push_back({"log", FileType::regular, 5, 0});
    scene.reference.steps[0].files.push_back({"log", FileType::regular, 6, 0});
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::files));
    EXPECT_EQ(diverged(scene, LayerId::files).symptom.field, "size");
    file(scene.subject, "log").type = FileType::link;
    EXPECT_EQ(diverged(scene, LayerId::files).symptom.field, "type");
}

TEST(Files, AProcessThatStaysIsTold) {
    Scene scene;
    scene.subject_outcome().processes_left = 2;
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::files));
    EXPECT_EQ(diverged(scene, LayerId::files).symptom.field, "process");
    scene.reference_outcome().processes_left = 1;
    EXPECT_THAT(diverging(scene), IsEmpty());
    scene.subject_outcome().processes_left = 0;
    EXPECT_EQ(diverged(scene, LayerId::files).severity, Severity::reference);
}

TEST(Files, AReferenceOutOfTheWorkspaceIsCorruption) {
    Scene scene;
    scene.inspect(InspectionKind::check, "out", Escapes{"backing", "/etc/passwd"}, CheckFinding{});
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::files));
    EXPECT_EQ(diverged(scene, LayerId::files).symptom.field, "escapes");
    EXPECT_EQ(diverged(scene, LayerId::files).severity, Severity::corruption);
    Scene other;
    other.inspect(InspectionKind::check, "out", CheckFinding{}, Escapes{"backing", "/etc/passwd"});
    EXPECT_EQ(diverged(other, LayerId::files).severity, Severity::reference);
}

TEST(Files, CutListsCannotTellUnlessOneSideFlooded) {
    Scene scene;
    scene.subject.steps[0].files_cut = true;
    EXPECT_EQ(diverged(scene, LayerId::files).symptom.field, "leftover");
    scene.reference.steps[0].files_cut = true;
    EXPECT_EQ(reason_of(scene, LayerId::files), "file list cut");
    scene.subject_outcome().ending = Signalled{SIGSEGV, false};
    EXPECT_EQ(reason_of(scene, LayerId::files), "outcome classes differ");
}

TEST(Check, AnUncleanImageOfTheSubjectIsCorruption) {
    Scene scene;
    scene.inspect(InspectionKind::check, "out", CheckFinding{1, 2, 0}, CheckFinding{});
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::check));
    EXPECT_EQ(diverged(scene, LayerId::check).symptom.field, "corruptions,leaks");
    EXPECT_EQ(diverged(scene, LayerId::check).severity, Severity::corruption);
    Scene other;
    other.inspect(InspectionKind::check, "out", CheckFinding{}, CheckFinding{0, 2, 0});
    EXPECT_EQ(diverged(other, LayerId::check).severity, Severity::reference);
    EXPECT_EQ(diverged(other, LayerId::check).symptom.direction, Direction::reference);
}

TEST(Check, UncleanAlikeIsTheReferencesFaultWhereTheStepWroteTheImage) {
    Scene scene;
    scene.inspect(InspectionKind::check, "out", CheckFinding{0, 1, 0}, CheckFinding{0, 1, 0});
    EXPECT_EQ(diverged(scene, LayerId::check).symptom.direction, Direction::both);
    EXPECT_EQ(diverged(scene, LayerId::check).severity, Severity::reference);
    Scene input;
    input.inspect(InspectionKind::check, "src", CheckFinding{0, 1, 0}, CheckFinding{0, 1, 0});
    EXPECT_EQ(input.run(LayerId::check).verdict, LayerVerdict::agree);
    Scene unequal;
    unequal.inspect(InspectionKind::check, "out", CheckFinding{0, 1, 0}, CheckFinding{0, 2, 0});
    EXPECT_EQ(diverged(unequal, LayerId::check).severity, Severity::corruption);
}

TEST(Check, FailedLooksAreTold) {
    EXPECT_EQ(reason_of(Scene{}, LayerId::check), "nothing requested");
    Scene scene;
    scene.inspect(InspectionKind::check, "out", Unreadable{"x"}, Unreadable{"x"});
    EXPECT_EQ(reason_of(scene, LayerId::check), "unreadable on both sides");
    EXPECT_EQ(scene.run(LayerId::check).verdict, LayerVerdict::inconclusive);
    Scene one;
    one.inspect(InspectionKind::check, "out", Unreadable{"Image 'a' is bad at 5"}, CheckFinding{});
    EXPECT_EQ(diverged(one, LayerId::check).symptom.field, "unreadable");
    EXPECT_EQ(diverged(one, LayerId::check).symptom.subject_message,
              "Image '<name>' is bad at <n>");
    EXPECT_EQ(diverged(one, LayerId::check).severity, Severity::corruption);
    Scene limited;
    limited.inspect(InspectionKind::check, "out", NotInspected{"timeout"}, CheckFinding{});
    EXPECT_EQ(reason_of(limited, LayerId::check), "not inspected");
    Scene refused;
    refused.both_refuse("x");
    refused.inspect(InspectionKind::check, "out", CheckFinding{1, 0, 0}, CheckFinding{});
    EXPECT_EQ(reason_of(refused, LayerId::check), "output of a refused step");
}

TEST(Bytes, AreComparedOnlyWhereStable) {
    Scene scene;
    file(scene.subject, "out.qcow2").content_hash = 23;
    EXPECT_EQ(reason_of(scene, LayerId::bytes), "bytes not stable");
    EXPECT_THAT(diverging(scene), IsEmpty());
    scene.bytes_stable = true;
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::bytes));
    EXPECT_EQ(diverged(scene, LayerId::bytes).severity, Severity::detail);
    file(scene.subject, "out.qcow2").content_hash = 0;
    EXPECT_EQ(reason_of(scene, LayerId::bytes), "file not hashed");
    file(scene.subject, "out.qcow2").content_hash = 22;
    EXPECT_EQ(scene.run(LayerId::bytes).verdict, LayerVerdict::agree);
    scene.c.outputs.clear();
    scene.may_change.clear();
    EXPECT_EQ(reason_of(scene, LayerId::bytes), "nothing written");
}

}  // namespace
}  // namespace difffuzz

// Gates, crash, exit, code, error: what the way a command ended decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/observations.hpp"

namespace difffuzz {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Layers, AreInTheOrderOfTheirIdsAndOnlyTheFirstThreeAreGates) {
    ASSERT_EQ(layers().size(), 18U);
    for (std::size_t i = 0; i < layers().size(); ++i) {
        EXPECT_EQ(layers()[i].id, static_cast<LayerId>(i));
        EXPECT_EQ(layers()[i].gate, i < 3);
        EXPECT_FALSE(layers()[i].purpose.empty());
        EXPECT_EQ(&layer(layers()[i].id), &layers()[i]);
    }
}

TEST(Layers, EqualSidesGiveNoDivergenceAnywhere) { EXPECT_THAT(diverging(Scene{}), IsEmpty()); }

TEST(Layers, AStepThatOneSideDidNotRunIsInconclusiveInSetupAndComparedNowhere) {
    Scene scene;
    scene.reference.steps.clear();
    for (const Layer& row : layers()) {
        const LayerResult result = row.compare(scene.view());
        EXPECT_EQ(result.verdict, row.id == LayerId::setup ? LayerVerdict::inconclusive
                                                           : LayerVerdict::not_applicable);
        EXPECT_EQ(result.reason, "step not run");
    }
}

TEST(Gates, ATimeoutOfEitherOrBothIsInconclusiveAndNoDivergence) {
    for (int sides = 1; sides <= 3; ++sides) {
        Scene scene;
        if ((sides & 1) != 0) {
            scene.subject_outcome().ending = TimedOut{};
        }
        if ((sides & 2) != 0) {
            scene.reference_outcome().ending = TimedOut{};
        }
        const LayerResult result = scene.run(LayerId::timeout);
        EXPECT_EQ(result.verdict, LayerVerdict::inconclusive);
        EXPECT_EQ(result.reason, "external timeout");
        EXPECT_THAT(diverging(scene), IsEmpty());
    }
}

TEST(Gates, ALimitOfOursIsInconclusiveNeverCrashNorAgreement) {
    for (const LimitKind kind : {LimitKind::memory, LimitKind::disk, LimitKind::output,
                                 LimitKind::processes, LimitKind::file_size}) {
        Scene scene;
        scene.subject_outcome().ending = Limited{kind};
        scene.subject_outcome().err = stream("ERROR: AddressSanitizer: killed half way\n");
        // The reference came near every limit, so that it is not the subject's doing.
        scene.reference_outcome().out.observed_bytes = Limits{}.output_bytes;
        EXPECT_EQ(reason_of(scene, LayerId::timeout),
                  "limited(" + std::string(to_string(kind)) + ")");
        EXPECT_THAT(diverging(scene), IsEmpty());
        scene.reference_outcome().ending = Limited{kind};
        EXPECT_EQ(scene.run(LayerId::timeout).verdict, LayerVerdict::inconclusive);
        EXPECT_EQ(scene.run(LayerId::exit).verdict, LayerVerdict::not_applicable);
    }
}

TEST(Gates, AToolThatDoesNotStartIsInconclusive) {
    Scene scene;
    scene.subject_outcome().ending = FailedToStart{2, "exec"};
    EXPECT_EQ(reason_of(scene, LayerId::spawn), "tool did not start");
    EXPECT_THAT(diverging(scene), IsEmpty());
}

TEST(Crash, ASignalOfTheSubjectIsACrashWhateverTheReferenceDid) {
    Scene scene;
    scene.subject_outcome().ending = Signalled{SIGSEGV, true};
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::crash));
    Difference difference = *scene.run(LayerId::crash).difference;
    EXPECT_EQ(difference.severity, Severity::crash);
    EXPECT_EQ(difference.symptom.direction, Direction::subject);
    EXPECT_EQ(difference.symptom.field, "signal");
    EXPECT_EQ(difference.symptom.subject_message, "SIGSEGV");
    EXPECT_EQ(difference.symptom.subject_class, "crashed");

    // Nor do its words make it another symptom.
    scene.both_refuse("bad image");
    scene.subject_outcome().ending = Signalled{SIGSEGV, true};
    scene.subject_outcome().err = {};
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::crash));
    EXPECT_EQ(scene.run(LayerId::crash).difference->symptom.reference_message, "");
}

TEST(Crash, ASignalOfTheReferenceAloneIsTheReferences) {
    Scene scene;
    scene.reference_outcome().ending = Signalled{SIGFPE, false};
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::crash));
    const Difference difference = *scene.run(LayerId::crash).difference;
    EXPECT_EQ(difference.severity, Severity::reference);
    EXPECT_EQ(difference.symptom.direction, Direction::reference);
    EXPECT_EQ(difference.symptom.reference_message, "SIGFPE");
}

TEST(Crash, TheSameSignalOnBothSidesDoesNotAgree) {
    Scene scene;
    scene.subject_outcome().ending = Signalled{SIGABRT, false};
    scene.reference_outcome().ending = Signalled{SIGABRT, false};
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::crash));
    const Difference difference = *scene.run(LayerId::crash).difference;
    EXPECT_EQ(difference.symptom.direction, Direction::both);
    EXPECT_EQ(difference.severity, Severity::reference);
}

TEST(Crash, ASanitizerReportCountsThoughTheProgramRefused) {
    Scene scene;
    scene.both_refuse("bad image");
    scene.subject_outcome().err = stream(
        "=====\n==77==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602f\n#0 x\n");
    const Difference difference = *scene.run(LayerId::crash).difference;
    EXPECT_EQ(difference.symptom.field, "sanitizer");
    EXPECT_EQ(difference.symptom.subject_message,
              "==<n>==ERROR: AddressSanitizer: heap-buffer-overflow on address <n>");
    EXPECT_EQ(difference.details.at("subject").at("line"),
              "==<pid>==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602f");
    scene.subject_outcome().err = stream("a.c:12:3: runtime error: signed integer overflow\n");
    EXPECT_EQ(scene.run(LayerId::crash).difference->symptom.field, "sanitizer");
}

TEST(Crash, AnAssertionKeepsItsWordsNextToTheSignal) {
    Scene scene;
    scene.subject_outcome().ending = Signalled{SIGABRT, false};
    scene.subject_outcome().err =
        stream("qemu-img: ../block/io.c:123: bdrv_co: Assertion `bs->x == 1' failed.\n");
    const Difference difference = *scene.run(LayerId::crash).difference;
    EXPECT_EQ(difference.symptom.field, "assertion");
    EXPECT_EQ(difference.symptom.subject_message,
              "SIGABRT: <path>:<n>: bdrv_co: Assertion `bs->x == <n>' failed.");
}

TEST(Crash, AnInternalErrorWhereAProperErrorBelongsIsAFinding) {
    for (const char* text : {"thread 'main' panicked at src/main.rs:5:6: boom\n",
                             "internal error: entered unreachable code\n",
                             "ERROR:../qom/object.c:1:f: assertion failed: (x)\n"}) {
        Scene scene;
        scene.both_refuse("bad image");
        scene.subject_outcome().err = stream(text);
        const Difference difference = *scene.run(LayerId::crash).difference;
        EXPECT_EQ(difference.symptom.field, "assertion") << text;
        EXPECT_EQ(difference.severity, Severity::crash);
    }
}

TEST(Crash, AUserErrorIsNoFinding) {
    Scene scene;
    scene.both_refuse("Could not open 'src.qcow2': No such file or directory");
    EXPECT_THAT(diverging(scene), IsEmpty());
}

TEST(Exit, SucceededAgainstRefusedDivergesOnTheSideThatRefused) {
    Scene scene;
    scene.subject_outcome().ending = exited(1);
    scene.subject_outcome().err = stream("qemu-img: Could not open 'src.qcow2': odd size 77\n");
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::exit));
    Difference difference = *scene.run(LayerId::exit).difference;
    EXPECT_EQ(difference.symptom.direction, Direction::subject);
    EXPECT_EQ(difference.symptom.subject_message, "Could not open '<name>': odd size <n>");
    EXPECT_EQ(difference.symptom.subject_class, "refused");
    EXPECT_EQ(difference.severity, Severity::disagreement);

    Scene other;
    other.reference_outcome().ending = exited(1);
    EXPECT_EQ(other.run(LayerId::exit).difference->symptom.direction, Direction::reference);
}

TEST(Exit, ASignalNeverAgreesWithARefusal) {
    Scene scene;
    scene.both_refuse("x");
    scene.subject_outcome().ending = Signalled{SIGKILL, false};
    EXPECT_EQ(scene.run(LayerId::exit).verdict, LayerVerdict::not_applicable);
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::crash));
}

TEST(Code, DiffersWhereTheClassesAgree) {
    Scene scene;
    scene.both_refuse("x");
    scene.subject_outcome().ending = exited(2);
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::code));
    const Difference difference = *scene.run(LayerId::code).difference;
    EXPECT_EQ(difference.severity, Severity::detail);
    EXPECT_EQ(difference.details.at("subject"), 2);
    EXPECT_EQ(difference.details.at("reference"), 1);
    EXPECT_EQ(difference.symptom.subject_message, "");
    scene.reference_outcome().err = stream("qemu-img: y\n");
    EXPECT_EQ(scene.run(LayerId::code).difference->symptom.reference_message, "y");

    Scene classes;
    classes.subject_outcome().ending = exited(1);
    EXPECT_EQ(reason_of(classes, LayerId::code), "outcome classes differ");
}

TEST(Error, CoreMessagesContainOneAnother) {
    Scene scene;
    scene.both_refuse("Invalid step size specified");
    EXPECT_EQ(scene.run(LayerId::error).verdict, LayerVerdict::agree);
    scene.subject_outcome().err =
        stream("\nqemu-img: error: Invalid step size specified: '5'.\nhint");
    EXPECT_EQ(scene.run(LayerId::error).verdict, LayerVerdict::agree);
    std::swap(scene.subject_outcome().err, scene.reference_outcome().err);
    EXPECT_EQ(scene.run(LayerId::error).verdict, LayerVerdict::agree);
    scene.subject_outcome().err = stream("Failed to get \"write\" lock\n");
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::error));
    EXPECT_EQ(scene.run(LayerId::error).difference->severity, Severity::detail);
}

TEST(Error, NumbersAreComparedThoughTheSymptomHasNone) {
    Scene scene;
    scene.both_refuse("must be below 100");
    scene.subject_outcome().err = stream("qemu-img: must be below 200\n");
    const Difference difference = *scene.run(LayerId::error).difference;
    EXPECT_EQ(difference.symptom.subject_message, difference.symptom.reference_message);
    EXPECT_EQ(difference.details.at("subject"), "must be below 200");
}

TEST(Error, OneSilentSideDiverges) {
    Scene scene;
    scene.both_refuse("Invalid");
    scene.subject_outcome().err = stream("");
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::error));
    EXPECT_EQ(scene.run(LayerId::error).difference->symptom.field, "silent");
    scene.reference_outcome().err = stream("");
    EXPECT_EQ(reason_of(scene, LayerId::error), "nothing printed");
    EXPECT_EQ(reason_of(Scene{}, LayerId::error), "not refused by both");
}

TEST(NotFindings, AgreedRefusalsAgree) {
    Scene scene;
    scene.both_refuse("Invalid image size specified");
    EXPECT_THAT(diverging(scene), IsEmpty());
    EXPECT_EQ(scene.run(LayerId::exit).verdict, LayerVerdict::agree);
    EXPECT_EQ(scene.run(LayerId::error).verdict, LayerVerdict::agree);
}

}  // namespace
}  // namespace difffuzz

// resource: memory, bytes written and processes beyond several times the reference's, and limits of
// ours that the subject alone meets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/observations.hpp"

namespace difffuzz {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t mib = 1 << 20;

// Both took 30 MiB, wrote 1 MiB, started 3 processes or threads, and left 2 MiB of files.
Scene measured() {
    Scene scene;
    for (Outcome* outcome : {&scene.subject_outcome(), &scene.reference_outcome()}) {
        outcome->usage.peak_memory_bytes = 30 * mib;
        outcome->usage.written_bytes = mib;
        outcome->usage.tasks = 3;
        outcome->usage.disk_bytes = 2 * mib;
    }
    return scene;
}

std::string field_of(const Scene& scene) {
    const LayerResult result = scene.run(LayerId::resource);
    return result.difference ? result.difference->symptom.field : std::string();
}

// The planted faults that no other layer catches.
TEST(Resource, FourTimesTheReferenceAndSomeMoreIsAllowed) {
    Scene scene = measured();
    EXPECT_EQ(scene.run(LayerId::resource).verdict, LayerVerdict::agree);
    Usage& usage = scene.subject_outcome().usage;
    usage.peak_memory_bytes = (4 * 30 + 64) * mib;
    usage.written_bytes = (4 + 64) * mib;
    usage.tasks = 4 * 3 + 64;
    EXPECT_EQ(scene.run(LayerId::resource).verdict, LayerVerdict::agree);
    ++usage.peak_memory_bytes;
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::resource));
    EXPECT_EQ(field_of(scene), "memory");
    --usage.peak_memory_bytes;
    ++*usage.written_bytes;
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::resource));
    EXPECT_EQ(field_of(scene), "written");
    --*usage.written_bytes;
    ++*usage.tasks;
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::resource));
    EXPECT_EQ(field_of(scene), "processes");
}

TEST(Resource, TheBoundOfALargeFigureDoesNotWrapAround) {
    Scene scene = measured();
    scene.reference_outcome().usage.written_bytes = std::uint64_t{1} << 62;
    scene.subject_outcome().usage.written_bytes = 100 * mib;
    EXPECT_EQ(scene.run(LayerId::resource).verdict, LayerVerdict::agree);
}

TEST(Resource, AFrugalSubjectIsFine) {
    Scene scene = measured();
    scene.reference_outcome().usage.peak_memory_bytes = 1000 * mib;
    scene.reference_outcome().usage.written_bytes = UINT64_MAX;
    EXPECT_EQ(scene.run(LayerId::resource).verdict, LayerVerdict::agree);
}

TEST(Resource, DurationsAreNotCompared) {
    Scene scene = measured();
    scene.subject_outcome().usage.wall_us = 3'600'000'000;
    scene.subject_outcome().usage.user_us = 3'600'000'000;
    EXPECT_EQ(scene.run(LayerId::resource).verdict, LayerVerdict::agree);
}

TEST(Resource, TheRecordHoldsNoFigure) {
    Scene scene = measured();
    scene.subject_outcome().usage.peak_memory_bytes = 500 * mib;
    const Difference difference = scene.run(LayerId::resource).difference.value();
    EXPECT_EQ(difference.details, nlohmann::json({{"kind", "memory"}}));
    EXPECT_EQ(difference.severity, Severity::disagreement);
    EXPECT_EQ(difference.symptom.direction, Direction::subject);
}

TEST(Resource, ARefusalIsComparedAsWell) {
    Scene scene = measured();
    scene.both_refuse("no");
    scene.subject_outcome().usage.peak_memory_bytes = 500 * mib;
    EXPECT_THAT(diverging(scene), ElementsAre(LayerId::resource));
    scene.subject_outcome().ending = Exited{0};
    EXPECT_EQ(reason_of(scene, LayerId::resource), "outcome classes differ");
}

TEST(Resource, WhatWasNotMeasuredIsNotCompared) {
    EXPECT_EQ(reason_of(Scene{}, LayerId::resource), "nothing measured");
    Scene scene = measured();
    scene.subject_outcome().usage.written_bytes = 900 * mib;
    scene.reference_outcome().usage.written_bytes.reset();
    EXPECT_EQ(scene.run(LayerId::resource).verdict, LayerVerdict::agree);
}

TEST(Resource, ALimitOfTheSubjectAloneIsADivergence) {
    for (const auto& [kind, name] : {std::pair{LimitKind::memory, "limited(memory)"},
                                     std::pair{LimitKind::disk, "limited(disk)"},
                                     std::pair{LimitKind::output, "limited(output)"},
                                     std::pair{LimitKind::processes, "limited(processes)"}}) {
        Scene scene = measured();
        scene.subject_outcome().ending = Limited{kind};
        EXPECT_EQ(scene.run(LayerId::timeout).verdict, LayerVerdict::agree) << name;
        EXPECT_THAT(diverging(scene), ElementsAre(LayerId::resource)) << name;
        EXPECT_EQ(field_of(scene), name);
        // Also where the reference refused.
        scene.reference_outcome().ending = Exited{1};
        EXPECT_EQ(field_of(scene), name);
    }
}

TEST(Resource, ALimitThatTheReferenceCameNearTellsNothing) {
    const auto expect_nothing = [](const Scene& scene, const std::string& limit) {
        EXPECT_EQ(reason_of(scene, LayerId::timeout), limit);
        EXPECT_THAT(diverging(scene), IsEmpty());
    };
    const Limits limits;
    Scene scene = measured();
    scene.subject_outcome().ending = Limited{LimitKind::memory};
    scene.reference_outcome().usage.peak_memory_bytes = limits.memory_bytes / 10 + 1;
    expect_nothing(scene, "limited(memory)");
    scene = measured();
    scene.subject_outcome().ending = Limited{LimitKind::disk};
    scene.reference_outcome().usage.disk_bytes = limits.disk_bytes / 10 + 1;
    expect_nothing(scene, "limited(disk)");
    scene = measured();
    scene.subject_outcome().ending = Limited{LimitKind::output};
    scene.reference_outcome().err.observed_bytes = limits.output_bytes / 10 + 1;
    expect_nothing(scene, "limited(output)");
    scene = measured();
    scene.subject_outcome().ending = Limited{LimitKind::processes};
    scene.reference_outcome().usage.tasks = limits.processes / 10 + 1;
    expect_nothing(scene, "limited(processes)");
    scene.reference_outcome().usage.tasks.reset();
    expect_nothing(scene, "limited(processes)");
}

TEST(Resource, ALimitOfTheReferenceOrOfBothTellsNothing) {
    Scene scene = measured();
    scene.reference_outcome().ending = Limited{LimitKind::memory};
    EXPECT_EQ(reason_of(scene, LayerId::timeout), "limited(memory)");
    scene.subject_outcome().ending = Limited{LimitKind::memory};
    EXPECT_EQ(reason_of(scene, LayerId::timeout), "limited(memory)");
    EXPECT_THAT(diverging(scene), IsEmpty());
    scene = measured();
    scene.subject_outcome().ending = Limited{LimitKind::file_size};
    EXPECT_EQ(reason_of(scene, LayerId::timeout), "limited(file_size)");
}

}  // namespace
}  // namespace difffuzz

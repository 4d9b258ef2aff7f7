#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "images/content_model.hpp"
#include "oracles/content_shape.hpp"
#include "tests/support/observations.hpp"

namespace difffuzz {
namespace {

using namespace test;
using testing::ElementsAre;

constexpr std::uint64_t first_data = 128;  // sector of the scene's write

// Content of "src" by its recipe, as a tool that works finds it.
ContentFinding source(const Scene& scene) {
    return {summarise(*model_of(scene.c, std::string("src"))), {}};
}

// A convert of src to out, with the findings given, held against the model of src.
Scene converted(const ContentFinding& subject, const ContentFinding& reference) {
    Scene scene;
    scene.inspect(InspectionKind::content, "out", subject, reference);
    scene.expect_content("src", {});
    return scene;
}

ContentFinding good() { return source(Scene{}); }

ContentFinding without_sector(std::uint64_t index) {
    ContentFinding finding = good();
    std::erase_if(finding.content.sectors,
                  [&](const ContentSector& sector) { return sector.index == index; });
    return finding;
}

ContentFinding with_hash(std::uint64_t index, std::uint64_t hash) {
    ContentFinding finding = good();
    for (ContentSector& sector : finding.content.sectors) {
        if (sector.index == index) {
            sector.hash = hash;
        }
    }
    return finding;
}

Difference diverged(const Scene& scene) { return scene.run(LayerId::content).difference.value(); }

TEST(Content, EqualContentAgrees) {
    EXPECT_EQ(converted(good(), good()).run(LayerId::content).verdict, LayerVerdict::agree);
}

TEST(Content, TheModelTellsWhoIsOff) {
    const Scene subject = converted(without_sector(first_data), good());
    EXPECT_THAT(diverging(subject), ElementsAre(LayerId::content));
    EXPECT_EQ(diverged(subject).symptom.direction, Direction::subject);
    EXPECT_EQ(diverged(subject).severity, Severity::corruption);
    EXPECT_EQ(diverged(subject).symptom.shape, (ContentShape{"zeros", "edge", "cluster", "data"}));

    const Scene reference = converted(good(), without_sector(first_data));
    EXPECT_EQ(diverged(reference).symptom.direction, Direction::reference);
    EXPECT_EQ(diverged(reference).severity, Severity::reference);

    const Scene both = converted(without_sector(first_data), without_sector(first_data));
    EXPECT_EQ(diverged(both).symptom.direction, Direction::both);
    EXPECT_EQ(diverged(both).severity, Severity::reference);

    const Scene all = converted(without_sector(first_data), without_sector(first_data + 1));
    EXPECT_EQ(diverged(all).symptom.direction, Direction::differ);
    EXPECT_EQ(diverged(all).severity, Severity::corruption);
}

TEST(Content, WithoutAModelTheSidesAreHeldAgainstEachOther) {
    Scene scene = converted(with_hash(first_data + 3, 5), good());
    scene.requests[0].expected.reset();
    EXPECT_EQ(diverged(scene).symptom.direction, Direction::differ);
    EXPECT_EQ(diverged(scene).symptom.shape, (ContentShape{"foreign", "inside", "cluster", ""}));
}

TEST(Content, DetailsNameTheFirstByteWhereItIsKnown) {
    ContentFinding off = with_hash(first_data, 5);
    std::string bytes(512, '\xAA');
    bytes[7] = 'x';
    off.samples[first_data] = bytes;
    ContentFinding right = good();
    right.samples[first_data] = std::string(512, '\xAA');
    const Difference difference = diverged(converted(off, right));
    EXPECT_EQ(difference.symptom.shape->where, "inside");
    EXPECT_EQ(difference.symptom.shape->unit, "sector");
    const nlohmann::json& first = difference.details.at("first");
    EXPECT_EQ(first.at("offset"), 65536 + 7);
    EXPECT_EQ(first.at("exact"), true);
    EXPECT_EQ(first.at("subject").get<std::string>().substr(0, 4), "78aa");
    EXPECT_EQ(first.at("model").get<std::string>().size(), 64U);
    EXPECT_EQ(difference.details.at("differing_sectors"), 1);
}

TEST(Content, OldBackingAndShiftedContentIsRecognised) {
    Scene scene;
    scene.c.images.insert(scene.c.images.begin(), scene.c.images[0]);
    scene.c.images[0].id = "base";
    scene.c.images[0].content = {{WriteKind::write, 0, 65536, RandomFill{7}}};
    scene.c.images[1].backing = "base";
    const ContentFinding before = source(scene);
    // The step was to overwrite the first cluster and the second.
    const std::vector<ContentWrite> writes{{WriteKind::write, 0, 131072, RandomFill{9}}};
    const auto expectation = ContentExpectation::of_image("src").resized(1 << 20).written(writes);
    const ContentFinding done{summarise(*model_of(scene.c, expectation)), {}};
    const auto shape_with = [&](std::uint64_t sector, std::uint64_t hash) {
        ContentFinding off = done;
        off.content.sectors.at(sector).hash = hash;
        Scene copy = scene;
        copy.inspect(InspectionKind::content, "src", off, done);
        copy.expect_content("src", writes);
        return diverged(copy).symptom.shape.value().subject_has;
    };
    EXPECT_EQ(shape_with(first_data, before.content.sectors.at(first_data).hash), "old");
    EXPECT_EQ(shape_with(5, done.content.sectors.at(9).hash), "shifted");
    EXPECT_EQ(shape_with(5, 1), "foreign");
    // An output that shows the backing image's content instead of its overlay's.
    scene.c.images[1].content = {{WriteKind::write, 0, 65536, RandomFill{8}}};
    const ContentFinding overlay = source(scene);
    ContentFinding off = overlay;
    off.content.sectors.at(3) = summarise(*model_of(scene.c, std::string("base"))).sectors.at(3);
    scene.inspect(InspectionKind::content, "out", off, overlay);
    scene.expect_content("src", {});
    EXPECT_EQ(diverged(scene).symptom.shape.value().subject_has, "backing");
}

TEST(Content, SizesAndTheEndOfTheImage) {
    ContentFinding small = good();
    small.content.size -= 512;
    EXPECT_EQ(diverged(converted(small, good())).symptom.shape,
              (ContentShape{"size", "inside", "eof", ""}));
    ContentFinding big = good();
    big.content.size += 512;
    EXPECT_EQ(diverged(converted(big, good())).symptom.shape,
              (ContentShape{"size", "past", "eof", ""}));
    ContentFinding tail = good();
    tail.content.sectors.push_back({2047, 77});
    EXPECT_EQ(diverged(converted(tail, good())).symptom.shape,
              (ContentShape{"foreign", "edge", "eof", "hole"}));
}

TEST(Content, FailedLooksAndMissingFilesAreTold) {
    EXPECT_EQ(reason_of(Scene{}, LayerId::content), "nothing requested");
    Scene scene;
    scene.inspect(InspectionKind::content, "out", Unreadable{"L2 entry 5 is bad"}, good());
    EXPECT_EQ(diverged(scene).symptom.field, "unreadable");
    EXPECT_EQ(diverged(scene).symptom.direction, Direction::subject);
    Scene both;
    both.inspect(InspectionKind::content, "out", Unreadable{"x"}, Unreadable{"x"});
    EXPECT_EQ(both.run(LayerId::content).verdict, LayerVerdict::inconclusive);
    Scene missing;
    missing.inspect(InspectionKind::content, "out", Missing{}, good());
    EXPECT_EQ(diverged(missing).symptom.field, "missing");
    Scene none;
    none.inspect(InspectionKind::content, "out", Missing{}, Missing{});
    EXPECT_EQ(reason_of(none, LayerId::content), "missing on both sides");
    none.expect_content("src", {});
    EXPECT_EQ(diverged(none).severity, Severity::reference);
    Scene harness = converted(good(), good());
    harness.reference.steps[0].inspections[0].finding = NotInspected{"timeout"};
    EXPECT_EQ(reason_of(harness, LayerId::content), "not inspected");
    Scene unknown = converted(good(), good());
    unknown.requests[0].expected = ContentExpectation::of_image("nowhere");
    EXPECT_EQ(reason_of(unknown, LayerId::content), "no model of the content");
}

TEST(Content, ALaterDivergenceWinsOverAnEarlierFailure) {
    Scene scene;
    scene.inspect(InspectionKind::content, "src", NotInspected{"x"}, good());
    scene.inspect(InspectionKind::content, "out", without_sector(first_data), good());
    EXPECT_EQ(scene.run(LayerId::content).verdict, LayerVerdict::diverge);
}

TEST(Content, AfterARefusalImagesCountAndOutputsDoNot) {
    Scene scene = converted(without_sector(first_data), good());
    scene.both_refuse("x");
    EXPECT_EQ(reason_of(scene, LayerId::content), "output of a refused step");
    Scene image;
    image.both_refuse("x");
    image.inspect(InspectionKind::content, "src", without_sector(first_data), good());
    EXPECT_EQ(image.run(LayerId::content).verdict, LayerVerdict::diverge);
}

TEST(DifferingSectors, CountsEachPlaceOnce) {
    const VirtualContent a{4096, {{0, 1}, {2, 2}, {5, 3}}};
    const VirtualContent b{4096, {{0, 1}, {2, 9}, {3, 4}}};
    EXPECT_EQ(differing_sectors(a, b), 3U);
    EXPECT_EQ(differing_sectors(a, a), 0U);
    EXPECT_EQ(differing_sectors({512, {}}, a), 1U);
}

BitmapContent bitmap(const std::string& name, std::vector<ByteRange> dirty) {
    return {name, 65536, false, true, std::move(dirty)};
}

Scene with_bitmaps(std::vector<BitmapContent> subject, std::vector<BitmapContent> reference) {
    Scene scene;
    scene.inspect(InspectionKind::bitmaps, "src", BitmapsFinding{std::move(subject)},
                  BitmapsFinding{std::move(reference)});
    return scene;
}

TEST(Content, OfBitmapsIsComparedByTheirNames) {
    const BitmapContent a = bitmap("a", {{0, 65536}});
    const BitmapContent b = bitmap("b", {});
    EXPECT_EQ(with_bitmaps({a, b}, {b, a}).run(LayerId::content).verdict, LayerVerdict::agree);
    EXPECT_EQ(diverged(with_bitmaps({a}, {a, b})).symptom.field, "bitmaps");
    EXPECT_EQ(diverged(with_bitmaps({a}, {a, b})).details["bitmap"], "b");
    EXPECT_EQ(diverged(with_bitmaps({a}, {b})).details["bitmap"], "a");
    EXPECT_EQ(diverged(with_bitmaps({b}, {})).symptom.field, "bitmaps");
    const Scene dirty = with_bitmaps({a}, {bitmap("a", {{0, 131072}})});
    EXPECT_THAT(diverging(dirty), ElementsAre(LayerId::content));
    EXPECT_EQ(diverged(dirty).symptom.field, "bitmap:dirty");
    EXPECT_EQ(diverged(dirty).severity, Severity::corruption);
    EXPECT_EQ(diverged(dirty).details["reference"]["dirty"].dump(), "[[0,131072]]");
    BitmapContent other = a;
    other.in_use = true;
    EXPECT_EQ(diverged(with_bitmaps({a}, {other})).symptom.field, "bitmap:flags");
    other = a;
    other.granularity = 512;
    EXPECT_EQ(diverged(with_bitmaps({a}, {other})).symptom.field, "bitmap:granularity");
}

TEST(Content, OfBitmapsUnreadableOnOneSideDiverges) {
    Scene scene = with_bitmaps({}, {});
    scene.subject.steps[0].inspections[0].finding = Unreadable{"broken"};
    EXPECT_EQ(diverged(scene).symptom.field, "unreadable");
}

}  // namespace
}  // namespace difffuzz

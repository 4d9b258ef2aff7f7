#include "pickers/snapshot_parameter.hpp"

#include <set>

#include <gtest/gtest.h>

#include "pickers/byte_names.hpp"

namespace difffuzz {
namespace {

// Names by which qemu-img could be misled: an id, a comma, the form of a parameter.
ImageRecipe sample() {
    ImageRecipe image;
    image.id = "src";
    image.format = "qcow2";
    image.size = 65536;
    image.snapshots = {{"3", 0}, {"a,b", 0}, {"one", 0}, {"one", 0}, {"snapshot.id=9", 0}};
    return image;
}

std::optional<std::size_t> named(const std::string& text) {
    return named_snapshot(sample(), byte_name(text));
}

// What qemu-img 5.2, 7.2 and 10.0 read.
TEST(SnapshotParameter, IsAnIdBeforeItIsAName) {
    EXPECT_EQ(named("1"), 0U);
    EXPECT_EQ(named("3"), 2U);
    EXPECT_EQ(named("one"), 2U);
    EXPECT_EQ(named("a,b"), 1U);
    EXPECT_EQ(named("nothing"), std::nullopt);
    EXPECT_EQ(named(""), std::nullopt);
}

TEST(SnapshotParameter, NamesOneOfThemOrBoth) {
    EXPECT_EQ(named("snapshot.id=3"), 2U);
    EXPECT_EQ(named("snapshot.name=3"), 0U);
    EXPECT_EQ(named("snapshot.name=a,,b"), 1U);
    EXPECT_EQ(named("snapshot.name=a,b"), std::nullopt);
    EXPECT_EQ(named("snapshot.id=4,snapshot.name=one"), 3U);
    EXPECT_EQ(named("snapshot.id=1,snapshot.name=one"), std::nullopt);
    EXPECT_EQ(named("snapshot.id=one"), std::nullopt);
    EXPECT_EQ(named("snapshot.id=9"), std::nullopt);
    EXPECT_EQ(named("snapshot.size=1"), std::nullopt);
    EXPECT_EQ(named_snapshot(sample(), Value{NumberValue{1}}), std::nullopt);
}

TEST(SnapshotParameter, DrawsEveryFormAndOnlyWhatNamesOne) {
    std::set<std::string> texts;
    for (std::uint64_t i = 0; i < 500; ++i) {
        DrawState state = Draws::start(1, i, 0);
        const Value value = draw_snapshot_parameter(Draws(state), sample());
        ASSERT_TRUE(named_snapshot(sample(), value));
        texts.insert(*byte_name_in(value));
        ASSERT_FALSE(named_snapshot(sample(), draw_no_snapshot(Draws(state))));
    }
    for (const char* text : {"1", "one", "a,b", "snapshot.id=2", "snapshot.name=a,,b",
                             "snapshot.id=4,snapshot.name=one"}) {
        EXPECT_TRUE(texts.contains(text)) << text;
    }
}

}  // namespace
}  // namespace difffuzz

#include "images/state_model.hpp"

#include <gtest/gtest.h>

#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t cluster = 64 * kib;

ContentWrite data(std::uint64_t offset, std::uint64_t length, std::uint8_t byte) {
    return {WriteKind::write, offset, length, ByteFill{byte}};
}

ImageRecipe image(std::string id, std::uint64_t size, std::vector<ContentWrite> content,
                  std::optional<std::string> backing = std::nullopt) {
    ImageRecipe recipe;
    recipe.id = std::move(id);
    recipe.format = "qcow2";
    recipe.size = size;
    recipe.content = std::move(content);
    recipe.backing = std::move(backing);
    return recipe;
}

// "low" is full of 1; "mid" lies on it, smaller, with a cluster of 2; "top" lies on "mid", larger
// than both, with a cluster of 3.
Case chain() {
    Case c;
    c.images = {image("low", 8 * cluster, {data(0, 8 * cluster, 1)}),
                image("mid", 4 * cluster, {data(cluster, 100, 2)}, "low"),
                image("top", 12 * cluster, {data(2 * cluster, 100, 3)}, "mid")};
    return c;
}

// The bytes at the start of each cluster.
std::string seen(const Case& c, const ContentExpectation& content) {
    const auto source = model_of(c, content);
    std::string bytes;
    for (std::uint64_t offset = 0; offset < source->size(); offset += cluster) {
        char byte = 0;
        source->read(offset, std::as_writable_bytes(std::span(&byte, 1)));
        bytes += static_cast<char>('0' + byte);
    }
    return bytes;
}

std::string seen(const Case& c, const CaseState& state, const std::string& id) {
    return seen(c, content_of(state, id));
}

TEST(StateModel, ShowsWhatLiesBelow) {
    const Case c = chain();
    const CaseState state = initial_state(c);
    EXPECT_EQ(seen(c, state, "low"), "11111111");
    EXPECT_EQ(seen(c, state, "mid"), "1211");
    EXPECT_EQ(seen(c, state, "top"), "123100000000");
    EXPECT_EQ(chain_of(state, "top"), (std::vector<std::string>{"top", "mid", "low"}));
}

TEST(StateModel, ReadsWhatARecipeAsksFor) {
    ImageRecipe recipe = image("a", cluster, {});
    for (const char* word : {"0.10", "v2"}) {
        recipe.options = {{"compat", WordValue{word}}};
        EXPECT_EQ(state_of(recipe).version, 2U) << word;
    }
    recipe.options = {{"refcount_bits", NumberValue{8}},
                      {"lazy_refcounts", WordValue{"on"}},
                      {"extended_l2", WordValue{"on"}},
                      {"compression_type", WordValue{"zstd"}}};
    const ImageState state = state_of(recipe);
    EXPECT_EQ(state.version, 3U);
    EXPECT_EQ(state.refcount_bits, 8U);
    EXPECT_TRUE(state.lazy_refcounts && state.extended_l2 && state.zstd);
    EXPECT_EQ(state.cluster, cluster);
    EXPECT_EQ(state.unit, cluster / 32);
}

TEST(StateModel, AWriteTakesWholeUnitsFromBelow) {
    const Case c = chain();
    CaseState state = initial_state(c);
    write_image(state, "top", data(5 * cluster + 1, 1, 4));
    // The cluster is the top's own now: what becomes of the one below does not matter.
    rebase_unsafely(state, "top", "low");
    EXPECT_EQ(seen(c, state, "top"), "113110110000");
    rebase_unsafely(state, "top", std::nullopt);
    EXPECT_EQ(seen(c, state, "top"), "003000000000");
}

TEST(StateModel, ADiscardTakesWholeClustersOnly) {
    const Case c = chain();
    CaseState state = initial_state(c);
    write_image(state, "mid", {WriteKind::unmap, 1, 2 * cluster - 1, {}});
    EXPECT_EQ(seen(c, state, "mid"), "1011");
    write_image(state, "mid", {WriteKind::unmap, 3 * cluster + 1, 10, {}});
    EXPECT_EQ(seen(c, state, "mid"), "1011");
    EXPECT_FALSE(state.at("mid").own.held_at_most);
    write_image(state, "low", {WriteKind::unmap, 0, cluster, {}});
    EXPECT_TRUE(state.at("low").own.held_at_most);
}

TEST(StateModel, SnapshotsAreFoundById) {
    const Case c = chain();
    CaseState state = initial_state(c);
    ImageState& top = state.at("top");
    take_snapshot(top, "2");
    write_image(state, "top", data(0, cluster, 5));
    take_snapshot(top, "same");
    take_snapshot(top, "same");
    EXPECT_EQ(find_snapshot(top, "2")->id, "2");
    EXPECT_EQ(find_snapshot_named(top, "2")->id, "1");
    EXPECT_EQ(find_snapshot(top, "same")->id, "2");
    EXPECT_EQ(find_snapshot(top, "3")->name, "same");
    EXPECT_EQ(find_snapshot_named(top, "3"), nullptr);
    EXPECT_EQ(find_snapshot(top, "4"), nullptr);

    const SnapshotState first = *find_snapshot(top, "1");
    EXPECT_EQ(seen(c, state, "top"), "523100000000");
    EXPECT_EQ(seen(c, content_of(state, "top", first.own)), "123100000000");
    apply_snapshot(top, first);
    EXPECT_EQ(seen(c, state, "top"), "123100000000");
    const SnapshotState second = *find_snapshot(top, "2");
    delete_snapshot(top, second);
    take_snapshot(top, "late");
    EXPECT_EQ(top.snapshots.back().id, "4");
    EXPECT_EQ(find_snapshot(top, "2")->id, "1") << "no id of that text any more";
}

TEST(StateModel, ASnapshotOfTheRecipeStandsBetweenItsWrites) {
    Case c = chain();
    ImageRecipe& top = c.images.back();
    top.content.push_back(data(0, cluster, 6));
    top.snapshots = {{"a", 0}, {"b", 1}};
    const CaseState state = initial_state(c);
    const auto& snapshots = state.at("top").snapshots;
    EXPECT_EQ(seen(c, content_of(state, "top", snapshots.at(0).own)), "121100000000");
    EXPECT_EQ(seen(c, content_of(state, "top", snapshots.at(1).own)), "123100000000");
    EXPECT_EQ(seen(c, state, "top"), "623100000000");
}

TEST(StateModel, ResizingHidesALongerBackingFile) {
    const Case c = chain();
    CaseState state = initial_state(c);
    resize_image(state, "mid", 6 * cluster);
    EXPECT_EQ(seen(c, state, "mid"), "121100");
    resize_image(state, "mid", cluster + 512);
    EXPECT_EQ(seen(c, state, "mid"), "12");
    EXPECT_TRUE(state.at("mid").own.stale_tail);
}

TEST(StateModel, ASafeRebaseKeepsWhatIsRead) {
    Case c = chain();
    c.images.insert(c.images.begin(), image("other", 2 * cluster, {data(0, 2 * cluster, 7)}));
    c.images.back().snapshots = {{"a", 1}};
    CaseState state = initial_state(c);
    rebase_safely(state, "top", "other");
    EXPECT_EQ(seen(c, state, "top"), "123100000000");
    EXPECT_EQ(seen(c, content_of(state, "top", state.at("top").snapshots[0].own)), "773000000000")
        << "a snapshot sees the new backing file";
    EXPECT_EQ(state.at("top").backing, "other");
    EXPECT_TRUE(state.at("top").own.held_at_most);
}

TEST(StateModel, ACommitMovesTheChainDown) {
    const Case c = chain();
    CaseState state = initial_state(c);
    commit_image(state, "top", "low", false);
    EXPECT_EQ(seen(c, state, "low"), "123100000000") << "grown; behind the end of mid are zeros";
    EXPECT_EQ(seen(c, state, "mid"), "1231");
    EXPECT_EQ(seen(c, state, "top"), "123100000000");

    CaseState emptied = initial_state(c);
    commit_image(emptied, "top", "mid", true);
    EXPECT_EQ(seen(c, emptied, "mid"), "123100000000");
    EXPECT_EQ(seen(c, emptied, "low"), "11111111");
    EXPECT_EQ(seen(c, emptied, "top"), "123100000000");
    write_image(emptied, "mid", data(3 * cluster, 1, 8));
    EXPECT_EQ(seen(c, emptied, "top"), "123800000000") << "it holds nothing itself";
}

TEST(StateModel, MakesImagesOnOthersAndOfContents) {
    const Case c = chain();
    CaseState state = initial_state(c);
    make_image(state, image("over", 5 * cluster, {}), "mid", std::nullopt);
    EXPECT_EQ(seen(c, state, "over"), "12110");
    EXPECT_TRUE(state.at("over").own.held.ranges().empty());
    make_image(state, image("copy", 4 * cluster, {}), std::nullopt, content_of(state, "mid"));
    write_image(state, "mid", data(0, 1, 4));
    EXPECT_EQ(seen(c, state, "over"), "42110");
    EXPECT_EQ(seen(c, state, "copy"), "1211");
}

// Each commit uses what is read from both images; without shared parts this would not end.
TEST(StateModel, ManyCommitsStayCheap) {
    const Case c = chain();
    CaseState state = initial_state(c);
    constexpr unsigned rounds = 64;
    for (unsigned i = 0; i < rounds; ++i) {
        write_image(state, "top", data(i % 4 * cluster, 10, static_cast<std::uint8_t>(i % 8)));
        commit_image(state, "top", "mid", i % 2 == 0);
        commit_image(state, "mid", "low", false);
    }
    EXPECT_EQ(seen(c, state, "low"), "456700000000");
    EXPECT_EQ(seen(c, state, "top"), "456700000000");
}

}  // namespace
}  // namespace difffuzz

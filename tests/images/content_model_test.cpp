#include "images/content_model.hpp"

#include <gtest/gtest.h>

#include "images/content_fill.hpp"
#include "images/image_error.hpp"
#include "tests/images/image_support.hpp"
#include "tests/images/random_images.hpp"

namespace difffuzz {
namespace {

using test::recipe_of;

// What a disk would hold: every write done byte for byte.
std::vector<std::byte> naive(std::vector<std::byte> below, std::uint64_t size,
                             const std::vector<ContentWrite>& writes) {
    below.resize(size);
    for (const ContentWrite& write : writes) {
        const Fill fill = has_data(write.kind) ? write.fill : Fill{ByteFill{0}};
        fill_bytes(fill, 0, std::span(below).subspan(write.offset, write.length));
    }
    return below;
}

std::vector<std::byte> all_of(const ContentSource& source) {
    std::vector<std::byte> bytes(source.size());
    source.read(0, bytes);
    return bytes;
}

bool all_zero(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

Case small_chain() {
    Case c;
    for (std::uint64_t i = 0; i <= test::draw(0, 2); ++i) {
        ImageRecipe image = recipe_of("i" + std::to_string(i), "qcow2", test::draw(0, 3000));
        test::draw_content(image, 512, image.size);
        if (i > 0) {
            image.backing = c.images.back().id;
        }
        c.images.push_back(image);
    }
    return c;
}

TEST(ContentModel, IsWhatADiskWouldHold) {
    test::check_many("the model is what a disk would hold", 2000, [] {
        const Case c = small_chain();
        std::vector<std::byte> expected;
        for (const ImageRecipe& image : c.images) {
            expected = naive(expected, round_up(image.size, 512), image.content);
        }
        const auto model = model_of(c, c.images.back().id);
        RC_ASSERT(all_of(*model) == expected);
        for (std::uint64_t at = 0; at < model->size();) {
            const ContentExtent extent = model->extent(at);
            RC_ASSERT(extent.length > 0);
            RC_ASSERT(extent.length <= model->size() - at);
            RC_ASSERT(!extent.zero || all_zero(std::span(expected).subspan(at, extent.length)));
            at += extent.length;
        }
    });
}

TEST(ContentModel, ExpectationWritesOverTheImageAndMayEndElsewhere) {
    test::check_many("an expectation lies over the image", 500, [] {
        const Case c = small_chain();
        const ImageRecipe& top = c.images.back();
        ImageRecipe writes = recipe_of("w", "raw", test::draw(0, 4000));
        test::draw_content(writes, 512, writes.size);
        const auto expectation =
            ContentExpectation::of_image(top.id).resized(writes.size).written(writes.content);
        const auto below = all_of(*model_of(c, top.id));
        RC_ASSERT(all_of(*model_of(c, expectation)) == naive(below, writes.size, writes.content));
        RC_ASSERT(expectation.origin() == top.id);
        RC_ASSERT(expectation.writes() == writes.content);
    });
}

TEST(ContentModel, ExpectationJoinsImages) {
    test::check_many("an expectation joins images", 500, [] {
        Case c;
        std::vector<ContentExpectation> parts;
        std::vector<std::byte> joined;
        for (std::uint64_t i = 0; i <= test::draw(0, 3); ++i) {
            ImageRecipe image = recipe_of("i" + std::to_string(i), "qcow2", test::draw(0, 2000));
            test::draw_content(image, 512, image.size);
            c.images.push_back(image);
            parts.push_back(ContentExpectation::of_image(image.id));
            const auto content = all_of(*model_of(c, image.id));
            joined.insert(joined.end(), content.begin(), content.end());
        }
        const std::uint64_t size = test::draw(0, 9000);
        RC_ASSERT(all_of(*model_of(c, ContentExpectation::joined(parts).resized(size))) ==
                  naive(joined, size, {}));
        const std::uint64_t offset = test::draw(0, 3000);
        joined.erase(joined.begin(),
                     joined.begin() + static_cast<std::ptrdiff_t>(std::min(offset, joined.size())));
        RC_ASSERT(all_of(*model_of(c, ContentExpectation::joined(parts).from(offset))) == joined);
    });
}

TEST(ContentModel, ExpectationWithoutImageIsZeros) {
    EXPECT_TRUE(all_zero(all_of(*model_of({}, ContentExpectation::zeros(1000)))));
}

TEST(ContentModel, ExpectationCoversRangesWithAnotherContent) {
    test::check_many("ranges show the upper content", 500, [] {
        Case c;
        for (const char* id : {"lower", "upper"}) {
            c.images.push_back(recipe_of(id, "qcow2", test::draw(0, 3000)));
            test::draw_content(c.images.back(), 512, c.images.back().size);
        }
        auto expected = all_of(*model_of(c, "lower"));
        auto upper = all_of(*model_of(c, "upper"));
        upper.resize(expected.size());
        std::vector<ByteRange> ranges;
        for (std::uint64_t at = test::draw(0, 700); at < expected.size();) {
            const std::uint64_t length = std::min(test::draw(1, 600), expected.size() - at);
            ranges.push_back({at, length});
            std::copy_n(upper.begin() + static_cast<std::ptrdiff_t>(at), length,
                        expected.begin() + static_cast<std::ptrdiff_t>(at));
            at += length + test::draw(1, 700);
        }
        const auto model = model_of(c, ContentExpectation::of_image("lower").covered(
                                           ContentExpectation::of_image("upper"), ranges));
        RC_ASSERT(all_of(*model) == expected);
        for (std::uint64_t at = 0; at < model->size();) {
            const ContentExtent extent = model->extent(at);
            RC_ASSERT(extent.length > 0);
            RC_ASSERT(!extent.zero || all_zero(std::span(expected).subspan(at, extent.length)));
            at += extent.length;
        }
    });
}

TEST(ContentModel, SnapshotHoldsTheWritesBeforeIt) {
    Case c;
    c.images.push_back(
        recipe_of("a", "qcow2", 2048,
                  {{WriteKind::write, 0, 512, ByteFill{1}}, {WriteKind::unmap, 0, 2048, {}}}));
    c.images[0].snapshots = {{"s", 1}};
    EXPECT_EQ(summarise(*model_of(c, ContentExpectation::of_snapshot("a", 0))).sectors.size(), 1U);
    EXPECT_TRUE(summarise(*model_of(c, "a")).sectors.empty());
    EXPECT_THROW(model_of(c, ContentExpectation::of_snapshot("a", 1)), ImageError);
}

TEST(ContentModel, SparseGigabytesAreOneExtentEach) {
    Case c;
    c.images.push_back(recipe_of("a", "qcow2", std::uint64_t{5} << 30,
                                 {{WriteKind::write, std::uint64_t{4} << 30, 512, ByteFill{1}}}));
    const auto model = model_of(c, "a");
    EXPECT_EQ(model->extent(0).length, std::uint64_t{4} << 30);
    EXPECT_TRUE(model->extent(0).zero);
    EXPECT_EQ(summarise(*model).sectors.size(), 1U);
}

TEST(ContentModel, RefusesImagesThatAreNotThere) {
    Case c;
    c.images.push_back(recipe_of("a", "qcow2", 512));
    c.images[0].backing = "a";
    EXPECT_THROW(model_of(c, "b"), ImageError);
    EXPECT_THROW(model_of(c, "a"), ImageError);
}

}  // namespace
}  // namespace difffuzz

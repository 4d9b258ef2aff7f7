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
        const Fill fill = write.kind == WriteKind::zero ? Fill{ByteFill{0}} : write.fill;
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
        ContentExpectation expectation;
        expectation.image = top.id;
        expectation.size = test::draw(0, 4000);
        ImageRecipe writes = recipe_of("w", "raw", expectation.size);
        test::draw_content(writes, 512, writes.size);
        expectation.writes = writes.content;
        const auto below = all_of(*model_of(c, top.id));
        RC_ASSERT(all_of(*model_of(c, expectation)) ==
                  naive(below, expectation.size, expectation.writes));
    });
}

TEST(ContentModel, ExpectationJoinsImages) {
    test::check_many("an expectation joins images", 500, [] {
        Case c;
        ContentExpectation expectation;
        std::vector<std::byte> joined;
        for (std::uint64_t i = 0; i <= test::draw(0, 3); ++i) {
            ImageRecipe image = recipe_of("i" + std::to_string(i), "qcow2", test::draw(0, 2000));
            test::draw_content(image, 512, image.size);
            c.images.push_back(image);
            (i == 0 ? expectation.image : expectation.then.emplace_back()) = image.id;
            const auto content = all_of(*model_of(c, image.id));
            joined.insert(joined.end(), content.begin(), content.end());
        }
        expectation.size = test::draw(0, 9000);
        ImageRecipe writes = recipe_of("w", "raw", expectation.size);
        test::draw_content(writes, 512, writes.size);
        expectation.writes = writes.content;
        RC_ASSERT(all_of(*model_of(c, expectation)) ==
                  naive(joined, expectation.size, expectation.writes));
    });
}

TEST(ContentModel, ExpectationWithoutImageIsZeros) {
    ContentExpectation expectation;
    expectation.size = 1000;
    EXPECT_TRUE(all_zero(all_of(*model_of({}, expectation))));
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

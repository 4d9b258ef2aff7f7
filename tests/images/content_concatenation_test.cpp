// Expectations over several images, and over none.
#include <gtest/gtest.h>

#include "images/content_model.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

Case two_images() {
    Case c;
    c.images.push_back({"a", "raw", 1536, {}, {}, {{WriteKind::write, 1024, 512, ByteFill{1}}}});
    c.images.push_back({"b", "raw", 1000, {}, {}, {{WriteKind::write, 0, 1000, ByteFill{2}}}});
    return c;
}

std::string bytes_of(const ContentSource& source) {
    std::string bytes(source.size(), '?');
    source.read(0, std::as_writable_bytes(std::span(bytes)));
    return bytes;
}

TEST(ContentConcatenation, PutsOneImageBehindTheOther) {
    const Case c = two_images();
    const auto model = model_of(c, ContentExpectation::joined({ContentExpectation::of_image("a"),
                                                               ContentExpectation::of_image("b")})
                                       .resized(3072));
    EXPECT_EQ(bytes_of(*model), std::string(1024, '\0') + std::string(512, '\1') +
                                    std::string(1000, '\2') + std::string(536, '\0'));
    const VirtualContent content = summarise(*model);
    ASSERT_EQ(content.sectors.size(), 3U);
    EXPECT_EQ(content.sectors[0].index, 2U);
    EXPECT_EQ(content.sectors[2].index, 4U);
}

TEST(ContentConcatenation, IsZerosWithoutAnImage) {
    const Case c;
    const auto model = model_of(c, ContentExpectation::zeros(4096));
    EXPECT_EQ(model->size(), 4096U);
    EXPECT_TRUE(summarise(*model).sectors.empty());
}

}  // namespace
}  // namespace difffuzz

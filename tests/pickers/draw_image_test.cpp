#include "pickers/draw_image.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "images/format.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;

Plan plan_with(std::vector<std::string> formats) {
    Plan plan;
    plan.formats = std::move(formats);
    plan.features = {"zstd"};
    return plan;
}

std::vector<Case> draw_many(const ImageWish& wish, const Plan& plan, std::uint64_t count) {
    std::vector<Case> cases;
    for (std::uint64_t i = 0; i < count; ++i) {
        DrawState state = Draws::start(77, i, 0);
        Case c;
        const std::string id = draw_image(c, {Draws(state), plan}, "src", wish);
        EXPECT_EQ(c.images.back().id, id);
        cases.push_back(std::move(c));
    }
    return cases;
}

const std::vector<Case>& usual() {
    static const auto cases =
        draw_many(ImageWish{}, plan_with({"raw", "qcow2", "vmdk", "vpc"}), 20'000);
    return cases;
}

template <typename Predicate>
double share(Predicate predicate) {
    const auto count =
        std::ranges::count_if(usual(), [&](const Case& c) { return predicate(c.images.back()); });
    return static_cast<double>(count) / static_cast<double>(usual().size());
}

std::uint64_t cluster_of(const ImageRecipe& image) {
    return find_format(image.format)->cluster_bytes(image);
}

TEST(DrawImage, ImagesCanBeBuilt) {
    for (const Case& c : usual()) {
        std::set<std::string> ids;
        for (const ImageRecipe& image : c.images) {
            ASSERT_EQ(find_format(image.format)->validate(image), "") << image.id;
            ASSERT_TRUE(ids.insert(image.id).second);
            ASSERT_TRUE(!image.backing || ids.contains(*image.backing));
        }
    }
}

TEST(DrawImage, SizesOfAllKinds) {
    EXPECT_EQ(share([](const ImageRecipe& image) { return image.size == 0; }), 0);
    EXPECT_GT(share([](const ImageRecipe& image) { return image.size % 512 != 0; }), 0.15);
    EXPECT_GT(share([](const ImageRecipe& image) { return image.size <= 8 * kib; }), 0.03);
    EXPECT_GT(share([](const ImageRecipe& image) { return image.size < 512; }), 0.002);
    EXPECT_GT(share([](const ImageRecipe& image) { return image.size > 4 * gib; }), 0.01);
    EXPECT_GT(share([](const ImageRecipe& image) {
                  return image.format == "qcow2" && image.size % cluster_of(image) != 0;
              }),
              0.2);
    EXPECT_GT(share([](const ImageRecipe& image) {
                  return image.format == "qcow2" && image.size % cluster_of(image) == 0;
              }),
              0.1);
    // What is built by conversion is read whole.
    EXPECT_EQ(share([](const ImageRecipe& image) {
                  return !find_format(image.format)->built_in_process && image.size > 64 * mib;
              }),
              0);
}

TEST(DrawImage, ContentOfAllKinds) {
    const auto with = [](auto predicate) {
        return share([&](const ImageRecipe& image) {
            return std::ranges::any_of(image.content, predicate);
        });
    };
    EXPECT_GT(with([](const ContentWrite& w) { return w.kind == WriteKind::zero; }), 0.3);
    EXPECT_GT(with([](const ContentWrite& w) { return w.kind == WriteKind::compressed; }), 0.1);
    for (std::size_t fill = 0; fill < std::variant_size_v<Fill>; ++fill) {
        EXPECT_GT(with([&](const ContentWrite& w) { return w.fill.index() == fill; }), 0.3);
    }
    EXPECT_GT(with([](const ContentWrite& w) { return w.offset % 512 != 0; }), 0.2);
    EXPECT_GT(with([](const ContentWrite& w) { return w.length > 256 * kib; }), 0.03);
    EXPECT_GT(share([](const ImageRecipe& image) { return image.content.empty(); }), 0.02);
    EXPECT_GT(share([](const ImageRecipe& image) {
                  const std::uint64_t end = find_format(image.format)->actual_size(image);
                  return std::ranges::any_of(image.content, [&](const ContentWrite& w) {
                      return w.offset + w.length == end;
                  });
              }),
              0.1);
    // Overlaps: later writes win.
    EXPECT_GT(share([](const ImageRecipe& image) {
                  for (const ContentWrite& a : image.content) {
                      for (const ContentWrite& b : image.content) {
                          if (&a < &b && a.offset < b.offset + b.length &&
                              b.offset < a.offset + a.length) {
                              return true;
                          }
                      }
                  }
                  return false;
              }),
              0.1);
}

TEST(DrawImage, AllocatesLittle) {
    std::vector<std::uint64_t> sums;
    for (const Case& c : usual()) {
        std::uint64_t sum = 0;
        for (const ImageRecipe& image : c.images) {
            for (const ContentWrite& write : image.content) {
                sum += has_data(write.kind) ? write.length : 0;
            }
        }
        sums.push_back(sum);
    }
    std::ranges::sort(sums);
    EXPECT_LE(sums[sums.size() / 2], 128 * kib);
    EXPECT_GE(sums[sums.size() / 2], 4 * kib);
    EXPECT_LE(sums[sums.size() * 999 / 1000], 8 * mib);
    EXPECT_LE(sums.back(), 16 * mib);
}

TEST(DrawImage, ClustersOfEverySize) {
    std::set<std::uint64_t> seen;
    for (const Case& c : usual()) {
        const ImageRecipe& image = c.images.back();
        if (image.format == "qcow2") {
            seen.insert(cluster_of(image));
            ASSERT_LE(image.size / cluster_of(image), 262'144U);
        }
    }
    EXPECT_EQ(*seen.begin(), 512U);
    EXPECT_EQ(*seen.rbegin(), 2 * mib);
    EXPECT_GE(seen.size(), 8U);
}

TEST(DrawImage, ChainsOfSeveralFormats) {
    std::set<std::string> below;
    std::size_t longest = 0;
    for (const Case& c : usual()) {
        longest = std::max(longest, c.images.size());
        for (std::size_t i = 0; i + 1 < c.images.size(); ++i) {
            below.insert(c.images[i].format);
        }
    }
    EXPECT_EQ(below, (std::set<std::string>{"qcow2", "raw", "vmdk", "vpc"}));
    EXPECT_GE(longest, 3U);
    EXPECT_LE(longest, 8U);
}

TEST(DrawImage, KeepsToTheWishAndThePlan) {
    ImageWish wish;
    wish.formats = {{"qcow2", 1}, {"vmdk", 1}};
    wish.backing_formats = {{"raw", 1}};
    wish.min_size = 64 * kib;
    wish.max_size = mib;
    wish.max_content = 64 * kib;
    wish.backing_percent = 50;
    wish.compressed = false;
    wish.variety = ImageVariety::plain;
    for (const Case& c : draw_many(wish, plan_with({"raw", "qcow2"}), 3000)) {
        EXPECT_EQ(c.images.back().format, "qcow2");
        EXPECT_LE(c.images.size(), 2U);
        for (const ImageRecipe& image : c.images) {
            EXPECT_GE(image.size, wish.min_size);
            EXPECT_LE(image.size, wish.max_size);
            EXPECT_LE(image.options.size(), 1U);
            std::uint64_t bytes = 0;
            for (const ContentWrite& write : image.content) {
                EXPECT_NE(write.kind, WriteKind::compressed);
                bytes += has_data(write.kind) ? write.length : 0;
            }
            EXPECT_LE(bytes, wish.max_content);
        }
        if (c.images.size() == 2) {
            EXPECT_EQ(c.images.front().format, "raw");
        }
    }
}

TEST(DrawSpelling, SpellsTheSameNumber) {
    std::set<std::string> spellings;
    for (std::uint64_t i = 0; i < 400; ++i) {
        DrawState state = Draws::start(1, i, 0);
        const SizeValue value = draw_spelling(Draws(state), 3 * mib);
        EXPECT_EQ(value.bytes, 3 * mib);
        spellings.insert(value.as);
    }
    EXPECT_TRUE(spellings.contains("3145728"));
    EXPECT_TRUE(spellings.contains("3M"));
    EXPECT_GE(spellings.size(), 3U);
}

}  // namespace
}  // namespace difffuzz

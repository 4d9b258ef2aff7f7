#include <gtest/gtest.h>

#include "images/vpc.hpp"
#include "tests/images/image_support.hpp"
#include "tests/images/random_images.hpp"

namespace difffuzz {
namespace {

TEST(VpcSize, IsThatOfQemuImg) {
    const test::ScratchDirectory directory;
    const auto check = [&](std::uint64_t size, const std::string& options) {
        const std::string name = "x.vpc";
        const Outcome made = test::run_tool(
            directory.path(),
            {"qemu-img", "create", "-f", "vpc", "-o", options, name, std::to_string(size)});
        ASSERT_EQ(made.ending, Ending{Exited{0}}) << size << made.err.head;
        ImageRecipe recipe = test::recipe_of("x", "vpc", size);
        recipe.options = {{"force_size", WordValue{options.substr(options.rfind('=') + 1)}}};
        EXPECT_EQ(find_format("vpc")->actual_size(recipe),
                  test::size_by_qemu(directory, name, "vpc"))
            << size << " " << options;
    };
    // Where the geometry changes its shape, and the highest size that has one.
    constexpr std::uint64_t borders[] = {1,
                                         4 * 17,
                                         4 * 1024 * 17,
                                         16 * 1024 * 17,
                                         16 * 1024 * 31,
                                         65535ULL * 16 * 63,
                                         65535ULL * 16 * 255,
                                         64ULL << 11U,
                                         1ULL << 21U};
    for (const std::uint64_t border : borders) {
        for (const std::int64_t shift : {-1, 0, 1}) {
            const std::uint64_t sectors = border + static_cast<std::uint64_t>(shift);
            check(sectors * 512, "force_size=off");
            check(sectors * 512 + 1, "force_size=on");
        }
    }
    test::check_many("vpc sizes", 400, [&] {
        check(test::draw(1, std::uint64_t{1} << test::draw(1, 38)),
              test::chance(80) ? "force_size=off" : "force_size=on");
    });
}

}  // namespace
}  // namespace difffuzz

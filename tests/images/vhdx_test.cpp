#include <gtest/gtest.h>

#include <fstream>

#include "images/recipe_uuid.hpp"
#include "images/vhdx_layout.hpp"
#include "tests/images/format_properties.hpp"

namespace difffuzz {
namespace {

using test::recipe_of;
using test::ScratchDirectory;

TEST(Vhdx, BlocksAreAsLargeAsQemuImgMakesThem) {
    for (const std::uint64_t size :
         {std::uint64_t{1}, std::uint64_t{1} << 30, (std::uint64_t{1} << 30) + 1,
          std::uint64_t{100} << 30, (std::uint64_t{100} << 30) + 1}) {
        const ScratchDirectory directory;
        test::run_tool(directory.path(),
                       {"qemu-img", "create", "-f", "vhdx", "x", std::to_string(size)});
        const Outcome info = test::run_tool(
            directory.path(), {"qemu-img", "info", "--output=json", "-f", "vhdx", "x"});
        const std::uint64_t block =
            find_format("vhdx")->cluster_bytes(recipe_of("x", "vhdx", size));
        EXPECT_NE(info.out.head.find("\"cluster-size\": " + std::to_string(block) + ","),
                  std::string::npos)
            << size << info.out.head;
    }
}

void put(std::string& file, std::uint64_t at, const std::string& bytes) {
    file.replace(at, bytes.size(), bytes);
}

std::string wide(const std::string& text) {
    std::string units;
    for (const char c : text) {
        units += {c, '\0'};
    }
    return units;
}

std::string little_endian(std::uint64_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) {
        text.push_back(static_cast<char>(value >> (8 * i)));
    }
    return text;
}

TEST(Vhdx, ParentsAreFound) {
    const ScratchDirectory directory;
    test::RealTools tools(directory.path());
    Case c;
    c.images = {recipe_of("a", "vhdx", 1 << 20)};
    build_images(c, directory.string(), tools);
    const Format* vhdx = find_format("vhdx");
    EXPECT_TRUE(vhdx->references(directory.string(), "a.vhdx").empty());

    const File built = File::open(directory.string(), "a.vhdx");
    const auto regions = vhdx::find_regions(built, vhdx::metadata_region);
    ASSERT_EQ(regions.size(), 1U);
    const auto page_83 = vhdx::find_item(built, regions[0], vhdx::page_83_item);
    ASSERT_TRUE(page_83.has_value());
    // Turns the entry of that item, the third, into one of a parent locator.
    std::string file = test::read_file(directory.path() / "a.vhdx");
    const std::uint64_t entry = regions[0].offset + 32 + 2 * 32;
    const std::uint64_t item = regions[0].offset + 65536 + 512;
    for (std::size_t i = 0; i < vhdx::parent_locator_item.size(); ++i) {
        file[entry + i] = static_cast<char>(vhdx::parent_locator_item[i]);
    }
    put(file, entry + 16, little_endian(65536 + 512, 4) + little_endian(400, 4));
    put(file, item + 18, little_endian(2, 2));
    const std::string key = wide("relative_path");
    const std::string value = wide("..\\b.vhdx");
    put(file, item + 20,
        little_endian(100, 4) + little_endian(200, 4) + little_endian(key.size(), 2) +
            little_endian(value.size(), 2));
    put(file, item + 32,
        little_endian(300, 4) + little_endian(0xfffffff0, 4) + little_endian(key.size(), 2) +
            little_endian(0xffff, 2));
    put(file, item + 100, key);
    put(file, item + 200, value);
    put(file, item + 300, key);
    std::ofstream(directory.path() / "a.vhdx", std::ios::binary | std::ios::trunc) << file;
    const auto found = vhdx->references(directory.string(), "a.vhdx");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].kind + " " + found[0].name, "parent ..\\b.vhdx");
    EXPECT_FALSE(stays_inside(found[0]));
}

TEST(Vhdx, GuidsOfARecipeAreVersionFourAndDiffer) {
    const RecipeHash hash{0x0123456789abcdefU, 0xfedcba9876543210U};
    const Uuid first = recipe_guid(hash, 0);
    EXPECT_NE(first, recipe_guid(hash, 1));
    EXPECT_NE(first, recipe_guid(RecipeHash{hash.low + 1, hash.high}, 0));
    EXPECT_EQ(first[7] & std::byte{0xf0}, std::byte{0x40});
    EXPECT_EQ(first[8] & std::byte{0xc0}, std::byte{0x80});
}

}  // namespace
}  // namespace difffuzz

#include <gtest/gtest.h>

#include "tests/images/image_support.hpp"

namespace difffuzz {
namespace {

using test::recipe_of;

ImageRecipe image(std::vector<FormatOption> options = {}, std::vector<ContentWrite> content = {}) {
    return recipe_of("a", "qcow2", 1 << 20, std::move(content), std::move(options));
}

FormatOption word(const char* name, const char* value) { return {name, WordValue{value}}; }

void refused(const ImageRecipe& recipe, const std::string& why) {
    const std::string broken = find_format("qcow2")->validate(recipe);
    EXPECT_NE(broken.find(why), std::string::npos) << broken;
    EXPECT_EQ(broken.find("image a: "), 0U) << broken;
}

void accepted(const ImageRecipe& recipe) { EXPECT_EQ(find_format("qcow2")->validate(recipe), ""); }

const FormatOption version_2 = {"compat", WordValue{"0.10"}};
const ContentWrite unmap{WriteKind::unmap, 0, 65536, {}};

TEST(Qcow2Recipe, Version2LacksWhatVersion3Brought) {
    accepted(image({version_2}, {unmap}));
    accepted(image({word("compat", "v2"),
                    word("lazy_refcounts", "off"),
                    {"refcount_bits", NumberValue{16}},
                    word("compression_type", "zlib")}));
    refused(image({version_2, word("lazy_refcounts", "on")}), "no lazy refcounts");
    refused(image({version_2, word("compression_type", "zstd")}), "no zstd");
    refused(image({version_2, word("extended_l2", "on")}), "no extended L2");
    refused(image({version_2, {"refcount_bits", NumberValue{8}}}), "other than 16 bits");
    refused(image({version_2, word("data_file", "a.data")}), "no data file");
    ImageRecipe recipe = image({version_2});
    recipe.bitmaps.push_back({"b", 65536, true, {}});
    refused(recipe, "no bitmaps");
    recipe = image({version_2}, {unmap});
    recipe.backing = "base";
    refused(recipe, "backing file below an unmapped");
}

TEST(Qcow2Recipe, OptionsOutOfRangeAreRefused) {
    refused(image({word("compat", "0.11")}), "0.10, 1.1, v2 or v3");
    for (const std::int64_t bits : {0, 3, 128}) {
        refused(image({{"refcount_bits", NumberValue{bits}}}), "power of two from 1 to 64");
    }
    refused(image({word("extended_l2", "maybe")}), "on or off");
    refused(image({word("extended_l2", "on"), {"cluster_size", plain_size(8192)}}), "16k");
    accepted(image({word("extended_l2", "on"), {"cluster_size", plain_size(16384)}}));
    refused(image({}, {{WriteKind::unmap, 1, 65536, {}}}), "whole clusters");
}

TEST(Qcow2Recipe, ADataFileIsTheImagesOwnAndTakesOnlyPlainData) {
    accepted(image({word("data_file", "a.data"), word("data_file_raw", "on")}));
    EXPECT_EQ(files_of(image({word("data_file", "a.data")})),
              (std::vector<std::string>{"a.qcow2", "a.data"}));
    refused(image({word("data_file", "b.data")}), "must be a.data");
    refused(image({word("data_file", "../a.data")}), "must be a.data");
    refused(image({{"data_file", ImageValue{"a"}}}), "must be");
    refused(image({word("data_file_raw", "on")}), "needs a data_file");
    refused(image({word("data_file", "a.data")}, {{WriteKind::compressed, 0, 65536, {}}}),
            "compressed");
    ImageRecipe recipe = image({word("data_file", "a.data")});
    recipe.snapshots.push_back({"s", 0});
    refused(recipe, "cannot have snapshots");
    recipe = image({word("data_file", "a.data")});
    recipe.backing = "base";
    accepted(recipe);
    recipe.options.push_back(word("data_file_raw", "on"));
    refused(recipe, "backing file");
}

TEST(Qcow2Recipe, SnapshotsAreCountedAndNamed) {
    ImageRecipe recipe = image({{"refcount_bits", NumberValue{1}}});
    recipe.snapshots.push_back({"s", 0});
    refused(recipe, "refcounts of 1 bits are too small");
    recipe.options[0].value = NumberValue{2};
    recipe.snapshots.resize(2, {"s", 0});
    accepted(recipe);
    recipe.snapshots.push_back({"s", 0});
    refused(recipe, "refcounts of 2 bits");
    recipe.options.clear();
    recipe.snapshots.resize(17, {"s", 0});
    refused(recipe, "17 snapshots");
    for (const std::string& name : {std::string(), std::string(256, 'x'), std::string("a\0b", 3)}) {
        recipe.snapshots = {{name, 0}};
        refused(recipe, "snapshot's name");
    }
    recipe.snapshots = {{"s", 1}};
    refused(recipe, "stands after");
}

TEST(Qcow2Recipe, BitmapsAreBounded) {
    const auto with = [](std::vector<BitmapRecipe> bitmaps, std::uint64_t size = 1 << 20) {
        ImageRecipe recipe = image();
        recipe.size = size;
        recipe.bitmaps = std::move(bitmaps);
        return recipe;
    };
    accepted(with({{"b", 512, true, {{0, 1 << 20}}}, {"c", std::uint64_t{1} << 31, false, {}}}));
    refused(with({{"b", 512, true, {}}, {"b", 1024, true, {}}}), "bitmap's name");
    refused(with({{"", 512, true, {}}}), "bitmap's name");
    refused(with({{"b", 256, true, {}}}), "granularity");
    refused(with({{"b", 512, true, {}}}, 0), "size 0");
    refused(with({{"b", 512, true, {{0, 0}}}}), "no length");
    refused(with({{"b", 512, true, {}}}, std::uint64_t{1} << 36), "bits in all");
    std::vector<BitmapRecipe> many;
    for (int i = 0; i < 17; ++i) {
        many.push_back({std::to_string(i), 65536, true, {}});
    }
    refused(with(std::move(many)), "17 bitmaps");
}

TEST(Qcow2Recipe, SnapshotsMultiplyWhatAnImageTakes) {
    // Each part takes 64 MiB of host clusters.
    std::vector<ContentWrite> writes;
    ImageRecipe recipe = recipe_of("a", "qcow2", std::uint64_t{1} << 30, {},
                                   {{"cluster_size", plain_size(2 << 20)}});
    for (std::uint32_t part = 0; part < 9; ++part) {
        for (std::uint64_t i = 0; i < 32; ++i) {
            recipe.content.push_back({WriteKind::write, i << 21U, 1, ByteFill{1}});
        }
        recipe.snapshots.push_back({"s", static_cast<std::uint32_t>(recipe.content.size())});
    }
    refused(recipe, "touch clusters of more");
    recipe.snapshots.resize(7);
    accepted(recipe);
    recipe = recipe_of("a", "qcow2", std::uint64_t{1} << 35,
                       {{WriteKind::zero, 0, std::uint64_t{1} << 28, {}}},
                       {{"cluster_size", plain_size(512)}});
    accepted(recipe);
    recipe.snapshots.resize(4, {"s", 0});
    refused(recipe, "L2 entries");
    recipe =
        recipe_of("a", "qcow2", std::uint64_t{1} << 37, {}, {{"cluster_size", plain_size(512)}});
    recipe.snapshots.resize(1, {"s", 0});
    accepted(recipe);
    recipe.snapshots.resize(2, {"s", 0});
    refused(recipe, "L1 table");
}

}  // namespace
}  // namespace difffuzz

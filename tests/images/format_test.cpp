#include "images/format.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "images/image_error.hpp"
#include "tests/images/image_support.hpp"
#include "tests/images/random_images.hpp"

namespace difffuzz {
namespace {

using test::recipe_of;
using test::ScratchDirectory;

TEST(Formats, SizesAreThoseOfQemuImg) {
    const ScratchDirectory directory;
    for (const std::string format :
         {"raw", "qcow2", "vmdk", "vdi", "vhdx", "qed", "qcow", "parallels"}) {
        for (const std::uint64_t size :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{511}, std::uint64_t{512},
              std::uint64_t{513}, std::uint64_t{1'000'001}, (std::uint64_t{5} << 30) + 7}) {
            if (size == 0 && (format == "vmdk" || format == "vhdx" || format == "qcow")) {
                continue;
            }
            const ImageRecipe recipe = recipe_of("a", format, size);
            test::run_tool(directory.path(),
                           {"qemu-img", "create", "-f", format, "x", std::to_string(size)});
            EXPECT_EQ(find_format(format)->actual_size(recipe),
                      test::size_by_qemu(directory, "x", format))
                << format << " " << size;
        }
    }
    // A raw file that is no whole number of sectors long.
    std::ofstream(directory.path() / "odd.raw") << "abc";
    EXPECT_EQ(test::size_by_qemu(directory, "odd.raw", "raw"), 512U);
}

TEST(Formats, ReferencesThatStayInsideArePlainNames) {
    for (const char* name : {"a.raw", "base0.qcow2", "..a", "a b", "-x"}) {
        EXPECT_TRUE(stays_inside({"backing", name})) << name;
    }
    for (const std::string& name :
         {std::string(""), std::string("."), std::string(".."), std::string("/etc/passwd"),
          std::string("./a"), std::string("..\\a"), std::string("nbd:x"), std::string("json:{}"),
          std::string("a\0b", 3), std::string(256, 'a')}) {
        EXPECT_FALSE(stays_inside({"backing", name})) << name;
    }
}

std::string broken(const ImageRecipe& recipe) {
    return find_format(recipe.format)->validate(recipe);
}

TEST(Formats, RecipesThatCannotBeBuiltAreRefusedInOneSentence) {
    const auto refused = [](const ImageRecipe& recipe, const std::string& why) {
        EXPECT_NE(broken(recipe).find(why), std::string::npos) << broken(recipe);
    };
    const ContentWrite write{WriteKind::write, 0, 512, {}};
    const auto with_option = [](const char* name, Scalar value) {
        return recipe_of("a", "qcow2", 1 << 20, {}, {{name, std::move(value)}});
    };
    EXPECT_EQ(broken(recipe_of("a", "qcow2", 1 << 20, {write})), "");
    refused(recipe_of("A", "raw", 512), "id must match");
    refused(recipe_of("", "raw", 512), "id must match");
    refused(recipe_of("a/b", "raw", 512), "id must match");
    refused(recipe_of("a", "raw", std::uint64_t{1} << 50), "above the limit");
    refused(recipe_of("a", "raw", 512, {}, {{"cluster_size", plain_size(512)}}), "no option");
    refused(recipe_of("a", "raw", 513, {{WriteKind::write, 512, 2, {}}}), "past the image's end");
    refused(recipe_of("a", "raw", 512, {{WriteKind::write, 1, ~std::uint64_t{0}, {}}}),
            "past the image's end");
    refused(recipe_of("a", "raw", 512, {{WriteKind::write, ~std::uint64_t{0}, 1, {}}}),
            "past the image's end");
    refused(recipe_of("a", "raw", 512, {{WriteKind::write, 1, 0, {}}}), "no length");
    refused(recipe_of("a", "raw", 512, {{WriteKind::write, 0, 1, RepeatFill{0, 0}}}), "period");
    refused(recipe_of("a", "raw", 512, {{WriteKind::write, 0, 1, RepeatFill{0, 4097}}}), "period");
    refused(recipe_of("a", "raw", 512, {{WriteKind::compressed, 0, 512, {}}}), "compressed");
    refused(recipe_of("a", "raw", 1 << 30, {{WriteKind::write, 0, 1 << 29, {}}}), "writes more");
    refused(recipe_of("a", "raw", 512, std::vector<ContentWrite>(70'000, write)), "70000 writes");
    refused(recipe_of("a", "qcow2", 1 << 20, {{WriteKind::compressed, 1, 65536, {}}}),
            "whole clusters");
    refused(recipe_of("a", "qcow2", 1 << 20, {{WriteKind::compressed, 0, 65535, {}}}),
            "whole clusters");
    EXPECT_EQ(broken(recipe_of("a", "qcow2", 70'000, {{WriteKind::compressed, 65536, 4464, {}}})),
              "");
    refused(with_option("cluster_size", plain_size(65537)), "power of two");
    refused(with_option("cluster_size", plain_size(256)), "power of two");
    refused(with_option("cluster_size", plain_size(4 << 20)), "power of two");
    refused(with_option("cluster_size", LiteralValue{"64k"}), "power of two");
    refused(with_option("compat", WordValue{"0.11"}), "must be");
    refused(with_option("refcount_bits", NumberValue{7}), "must be");
    refused(with_option("lazy_refcounts", WordValue{"yes"}), "on or off");
    refused(with_option("compression_type", WordValue{"lzma"}), "zlib or zstd");
    refused(with_option("encryption", WordValue{"on"}), "no option");
    refused(recipe_of("a", "qcow2", 1, {},
                      {{"compat", WordValue{"1.1"}}, {"compat", WordValue{"1.1"}}}),
            "twice");
    refused(
        recipe_of("a", "qcow2", std::uint64_t{1} << 40, {}, {{"cluster_size", plain_size(512)}}),
        "above the limit");
    refused(recipe_of("a", "qcow2", std::uint64_t{1} << 35,
                      {{WriteKind::zero, 0, std::uint64_t{1} << 34, {}}},
                      {{"cluster_size", plain_size(512)}}),
            "zero writes touch");
    std::vector<ContentWrite> scattered;
    for (std::uint64_t i = 0; i < 300; ++i) {
        scattered.push_back({WriteKind::write, i << 21U, 1, ByteFill{1}});
    }
    refused(recipe_of("a", "qcow2", std::uint64_t{1} << 30, scattered,
                      {{"cluster_size", plain_size(2 << 20)}}),
            "touch clusters of more");
    refused(recipe_of("a", "vpc", std::uint64_t{1} << 42), "above the limit");
    const auto refused_option = [&](const char* format, const char* name, Scalar value,
                                    const std::string& why) {
        refused(recipe_of("a", format, 1 << 20, {}, {{name, std::move(value)}}), why);
    };
    refused_option("vdi", "static", WordValue{"yes"}, "on or off");
    refused_option("qed", "cluster_size", plain_size(2048), "power of two");
    refused_option("qed", "cluster_size", plain_size(65537), "power of two");
    refused_option("qed", "table_size", NumberValue{1}, "2, 4, 8 or 16");
    refused_option("qcow", "cluster_size", plain_size(4096), "no option");
    refused_option("parallels", "cluster_size", plain_size(512), "power of two");
    refused_option("vhdx", "block_size", plain_size(3 << 20), "power of two");
    refused_option("vhdx", "subformat", WordValue{"Fixed"}, "dynamic or fixed");
    refused_option("vhdx", "block_state_zero", WordValue{"yes"}, "on or off");
    refused_option("vmdk", "subformat", WordValue{"sparse"}, "monolithicSparse");
    refused_option("vmdk", "adapter_type", WordValue{"scsi"}, "legacyESX");
    refused_option("vmdk", "hwversion", WordValue{"04"}, "1 to 99");
    refused_option("vmdk", "hwversion", WordValue{"4\n"}, "1 to 99");
    refused_option("vmdk", "zeroed_grain", WordValue{"yes"}, "on or off");
    refused(recipe_of("a", "vmdk", 1 << 20, {},
                      {{"subformat", WordValue{"twoGbMaxExtentFlat"}},
                       {"zeroed_grain", WordValue{"on"}}}),
            "no grains");
    refused(recipe_of("a", "vmdk", 0, {}, {{"subformat", WordValue{"monolithicFlat"}}}), "empty");
    refused(recipe_of("a", "vmdk", std::uint64_t{1} << 35, {},
                      {{"subformat", WordValue{"monolithicFlat"}}}),
            "above the limit");
    refused(recipe_of("a", "vpc", std::uint64_t{1} << 35, {}, {{"subformat", WordValue{"fixed"}}}),
            "above the limit");
    ImageRecipe split =
        recipe_of("a", "vmdk", 1 << 20, {}, {{"subformat", WordValue{"streamOptimized"}}});
    split.backing = "b";
    refused(split, "backing file");
    refused(recipe_of("a", "vhdx", 0), "empty");
    refused(recipe_of("a", "qcow", 0), "empty");
    refused(recipe_of("a", "vdi", std::uint64_t{1} << 41), "above the limit");
    refused(recipe_of("a", "vdi", std::uint64_t{1} << 31, {}, {{"static", WordValue{"on"}}}),
            "above the limit");
    refused(recipe_of("a", "vhdx", 1 << 30, {}, {{"subformat", WordValue{"fixed"}}}),
            "above the limit");
    refused(recipe_of("a", "qed", std::uint64_t{1} << 40, {},
                      {{"cluster_size", plain_size(4096)}, {"table_size", NumberValue{2}}}),
            "above the limit");
    refused(recipe_of("a", "parallels", std::uint64_t{1} << 33, {},
                      {{"cluster_size", plain_size(4096)}}),
            "above the limit");
    refused(recipe_of("a", "parallels", std::uint64_t{1} << 30, scattered,
                      {{"cluster_size", plain_size(16 << 20)}}),
            "touch blocks of more");
    refused(recipe_of("a", "qed", std::uint64_t{1} << 34,
                      {{WriteKind::zero, 0, std::uint64_t{1} << 33, {}}},
                      {{"cluster_size", plain_size(4096)}}),
            "zero writes touch");
    ImageRecipe overlay = recipe_of("a", "vpc", 512);
    overlay.backing = "b";
    refused(overlay, "backing file");
}

TEST(Formats, FilesOfAnImageAreNamedTheMainOneFirst) {
    const auto files = [](const char* subformat, std::uint64_t size) {
        std::string names;
        for (const std::string& name :
             files_of(recipe_of("a", "vmdk", size, {}, {{"subformat", WordValue{subformat}}}))) {
            names += name + " ";
        }
        return names;
    };
    EXPECT_EQ(files("monolithicSparse", 512), "a.vmdk ");
    EXPECT_EQ(files("streamOptimized", 512), "a.vmdk ");
    EXPECT_EQ(files("monolithicFlat", 512), "a.vmdk a-flat.vmdk ");
    EXPECT_EQ(files("twoGbMaxExtentSparse", std::uint64_t{1} << 31), "a.vmdk a-s001.vmdk ");
    EXPECT_EQ(files("twoGbMaxExtentFlat", (std::uint64_t{1} << 31) + 1),
              "a.vmdk a-f001.vmdk a-f002.vmdk ");
}

TEST(Formats, CasesThatCannotBeBuiltAreRefused) {
    const ScratchDirectory directory;
    const auto build = [&](std::vector<ImageRecipe> images) {
        Case c;
        c.images = std::move(images);
        test::build_in_process(c, directory);
    };
    ImageRecipe overlay = recipe_of("top", "qcow2", 512);
    overlay.backing = "base";
    EXPECT_THROW(build({overlay, recipe_of("base", "raw", 512)}), ImageError);
    overlay.backing = "top";
    EXPECT_THROW(build({overlay}), ImageError);
    EXPECT_THROW(build({recipe_of("a", "qcow3", 512)}), ImageError);
    EXPECT_THROW(build({recipe_of("b", "raw", 512), recipe_of("b", "qcow2", 512)}), ImageError);
    std::vector<ImageRecipe> chain{recipe_of("i0", "qcow2", 512)};
    for (int i = 1; i < 20; ++i) {
        chain.push_back(recipe_of("i" + std::to_string(i), "qcow2", 512));
        chain.back().backing = chain[chain.size() - 2].id;
    }
    EXPECT_THROW(build(chain), ImageError);
}

}  // namespace
}  // namespace difffuzz

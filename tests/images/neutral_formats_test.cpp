#include <gtest/gtest.h>

#include <fstream>

#include "images/recipe_rules.hpp"
#include "tests/images/format_properties.hpp"

namespace difffuzz {
namespace {

using test::RealTools;
using test::recipe_of;
using test::ScratchDirectory;

void draw_word(ImageRecipe& recipe, const char* option, unsigned percent,
               const std::vector<std::string>& words) {
    if (test::chance(percent)) {
        recipe.options.push_back({option, WordValue{test::one_of(words)}});
    }
}

ImageRecipe draw_recipe(const std::string& format) {
    ImageRecipe recipe = recipe_of("a", format, test::draw_size(65536));
    recipe.size = std::max<std::uint64_t>(recipe.size, 1);
    if (format == "vmdk") {
        draw_word(recipe, "subformat", 60,
                  {"monolithicSparse", "monolithicFlat", "twoGbMaxExtentSparse",
                   "twoGbMaxExtentFlat", "streamOptimized"});
        draw_word(recipe, "adapter_type", 30, {"ide", "lsilogic", "buslogic", "legacyESX"});
        draw_word(recipe, "hwversion", 20, {"4", "6", "10", "21"});
        draw_word(recipe, "zeroed_grain", 30, {"on", "off"});
        if (!find_format(format)->validate(recipe).empty()) {
            // Only zeroed grains in a flat image.
            recipe.options.pop_back();
        }
    } else if (format == "vpc") {
        draw_word(recipe, "subformat", 40, {"dynamic", "fixed"});
        draw_word(recipe, "force_size", 40, {"on", "off"});
    } else if (format == "vhdx") {
        draw_word(recipe, "subformat", 40, {"dynamic", "fixed"});
        draw_word(recipe, "block_state_zero", 40, {"on", "off"});
        if (test::chance(50)) {
            recipe.options.push_back(
                {"block_size", plain_size(std::uint64_t{1} << test::draw(20, 28))});
        }
    }
    test::draw_content(recipe, 65536, round_up(recipe.size, 512));
    if (!find_format(format)->validate(recipe).empty()) {
        recipe.size = 300'000;
        recipe.content.clear();
        test::draw_content(recipe, 65536, round_up(recipe.size, 512));
    }
    return recipe;
}

// What the reader of a format leaves to qemu-img.
bool has_reader(const ImageRecipe& recipe) {
    return recipe.format == "vpc" ||
           (recipe.format == "vmdk" && !recipe.backing &&
            word_option(recipe, "subformat", "monolithicSparse") == "monolithicSparse");
}

void check_neutral(const Case& c) {
    RC_LOG(test::describe(c));
    const ImageRecipe& top = c.images.back();
    RC_ASSERT(find_format(top.format)->validate(top) == "");
    const ScratchDirectory directory;
    const ScratchDirectory again;
    RealTools tools(directory.path());
    RealTools tools_again(again.path());
    build_images(c, directory.string(), tools);
    build_images(c, again.string(), tools_again);
    test::check_only_files_of(c, directory);
    test::check_equal_files(top, directory, again);
    test::check_by_qemu(c, directory);
    if (auto* open = find_format(top.format)->open; open != nullptr) {
        if (has_reader(top)) {
            test::check_reader(*open(directory.string(), test::main_file(top)),
                               *model_of(c, top.id));
        } else {
            RC_ASSERT_THROWS_AS(open(directory.string(), test::main_file(top)), ImageError);
        }
    }
}

void check_neutral(const std::string& format) {
    Case c;
    c.images.push_back(draw_recipe(format));
    check_neutral(c);
}

TEST(NeutralFormats, VmdkIsItsModelAndTheSameTwice) {
    test::check_many("vmdk", 25, [] { check_neutral("vmdk"); });
}

TEST(NeutralFormats, VmdkOnVmdkIsItsModelAndTheSameTwice) {
    test::check_many("vmdk on vmdk", 12, [] {
        Case c;
        c.images = {draw_recipe("vmdk"), recipe_of("top", "vmdk", 0)};
        ImageRecipe& top = c.images[1];
        top.backing = "a";
        top.size = std::max<std::uint64_t>(
            test::chance(50) ? c.images[0].size : test::draw_size(65536), 1);
        draw_word(top, "zeroed_grain", 60, {"on", "off"});
        test::draw_content(top, 65536, round_up(top.size, 512));
        check_neutral(c);
    });
}

// An overlay leaves unallocated what no write touches, and zeroes without allocating where it can.
TEST(NeutralFormats, VmdkOnVmdkAllocatesWhatIsWritten) {
    Case c;
    c.images = {recipe_of("a", "vmdk", 1 << 20, {{WriteKind::write, 0, 1 << 20, ByteFill{1}}}),
                recipe_of("top", "vmdk", 1 << 20,
                          {{WriteKind::write, 65536, 1, ByteFill{2}},
                           {WriteKind::zero, 3 * 65536, 65536, {}}},
                          {{"zeroed_grain", WordValue{"on"}}})};
    c.images[1].backing = "a";
    const ScratchDirectory directory;
    RealTools tools(directory.path());
    build_images(c, directory.string(), tools);
    const Outcome map = test::run_tool(
        directory.path(), {"qemu-img", "map", "--output=json", "-f", "vmdk", "top.vmdk"});
    std::string runs;
    for (std::size_t at = 0; (at = map.out.head.find("\"length\": ", at)) != std::string::npos;) {
        at += 10;
        const std::size_t depth = map.out.head.find("\"depth\": ", at) + 9;
        const bool zero = map.out.head.find("\"zero\": true", at) < map.out.head.find('}', at);
        runs += std::to_string(std::stoull(map.out.head.substr(at)) >> 16U) +
                (map.out.head[depth] == '0' ? " top" : " base") + (zero ? " zero, " : ", ");
    }
    EXPECT_EQ(runs, "1 base, 1 top, 1 base, 1 top zero, 12 base, ");
}

TEST(NeutralFormats, OnlyVmdkImagesBackVmdkImages) {
    Case c;
    c.images = {recipe_of("a", "raw", 1 << 20), recipe_of("top", "vmdk", 1 << 20)};
    c.images[1].backing = "a";
    const ScratchDirectory directory;
    RealTools tools(directory.path());
    EXPECT_THROW(build_images(c, directory.string(), tools), ImageError);
}

TEST(NeutralFormats, BackQcow2ImagesThatAreReadInProcess) {
    for (const char* format : {"vmdk", "vpc", "vdi", "qed", "qcow", "parallels"}) {
        Case c;
        c.images = {
            recipe_of("a", format, 300'000, {{WriteKind::write, 5000, 200'000, RandomFill{1}}}),
            recipe_of("top", "qcow2", 1 << 20, {{WriteKind::write, 70'000, 10, {}}})};
        c.images[1].backing = "a";
        const ScratchDirectory directory;
        RealTools tools(directory.path());
        build_images(c, directory.string(), tools);
        EXPECT_EQ(test::content_of(directory, "top.qcow2", "qcow2"), summarise(*model_of(c, "top")))
            << format;
    }
}

// Whatever a file holds, a reader ends, with an error or with some content.
TEST(NeutralFormats, BrokenFilesAreReadOrRefused) {
    for (const char* format : {"vmdk", "vpc"}) {
        Case c;
        c.images = {
            recipe_of("a", format, 3'000'000, {{WriteKind::write, 5000, 200'000, RandomFill{1}}})};
        const ScratchDirectory directory;
        RealTools tools(directory.path());
        build_images(c, directory.string(), tools);
        const std::string name = test::main_file(c.images[0]);
        const std::string good = test::read_file(directory.path() / name);
        std::size_t refused = 0;
        test::check_many(format, 300, [&] {
            std::string bad = good;
            for (std::uint64_t changes = test::draw(1, 4); changes > 0; --changes) {
                bad[test::one_of<std::size_t>(
                    {test::draw(0, 100), test::draw(0, 4000), test::draw(0, bad.size() - 1)})] =
                    static_cast<char>(test::draw(0, 255));
            }
            std::ofstream(directory.path() / name, std::ios::binary | std::ios::trunc) << bad;
            find_format(format)->references(directory.string(), name);
            try {
                summarise(*find_format(format)->open(directory.string(), name));
            } catch (const ImageError&) {
                ++refused;
            }
        });
        EXPECT_GT(refused, 0U) << format;
        EXPECT_LT(refused, 300U) << format;
    }
}

TEST(NeutralFormats, VpcIsItsModelAndTheSameTwice) {
    test::check_many("vpc", 30, [] { check_neutral("vpc"); });
}

TEST(NeutralFormats, VhdxIsItsModelAndTheSameTwice) {
    test::check_many("vhdx", 14, [] { check_neutral("vhdx"); });
}

TEST(NeutralFormats, IdentifiersDependOnTheRecipe) {
    for (const char* format : {"vmdk", "vpc", "vhdx"}) {
        const ScratchDirectory directory;
        RealTools tools(directory.path());
        Case c;
        c.images = {recipe_of("a", format, 1 << 20), recipe_of("b", format, 1 << 20)};
        build_images(c, directory.string(), tools);
        const std::string name = std::string(".") + format;
        EXPECT_NE(test::read_file(directory.path() / ("a" + name)),
                  test::read_file(directory.path() / ("b" + name)));
    }
}

TEST(NeutralFormats, AFailedToolIsAnErrorAndLeavesNothing) {
    const ScratchDirectory directory;
    RealTools tools(directory.path(), "false");
    Case c;
    c.images = {recipe_of("a", "vmdk", 1 << 20)};
    EXPECT_THROW(build_images(c, directory.string(), tools), ImageError);
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(NeutralFormats, VpcChecksumsHold) {
    const ScratchDirectory directory;
    RealTools tools(directory.path());
    Case c;
    c.images = {recipe_of("a", "vpc", 1 << 20, {}, {{"subformat", WordValue{"fixed"}}})};
    build_images(c, directory.string(), tools);
    const std::string file = test::read_file(directory.path() / "a.vpc");
    const std::string footer = file.substr(file.size() - 512);
    std::uint32_t sum = 0;
    std::uint32_t stored = 0;
    for (std::size_t i = 0; i < footer.size(); ++i) {
        const auto byte = static_cast<unsigned char>(footer[i]);
        if (i >= 64 && i < 68) {
            stored = stored << 8U | byte;
        } else {
            sum += byte;
        }
    }
    EXPECT_EQ(stored, ~sum);
}

TEST(NeutralFormats, VmdkNamesAreFoundWhereverTheyStand) {
    const ScratchDirectory directory;
    std::ofstream(directory.path() / "d.vmdk")
        << "# Disk DescriptorFile\nCID=1\nparentFileNameHint=\"/base.vmdk\"\n"
           "RW 2048 FLAT \"x-flat.vmdk\" 0\r\n  RDONLY\t1 SPARSE \"../y\"\nNOACCESS 1 ZERO\n";
    const auto found = find_format("vmdk")->references(directory.string(), "d.vmdk");
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].kind + " " + found[0].name, "parent /base.vmdk");
    EXPECT_EQ(found[1].kind + " " + found[1].name, "extent x-flat.vmdk");
    EXPECT_EQ(found[2].kind + " " + found[2].name, "extent ../y");

    RealTools tools(directory.path());
    Case c;
    c.images = {recipe_of("a", "vmdk", 1 << 20)};
    build_images(c, directory.string(), tools);
    const auto own = find_format("vmdk")->references(directory.string(), "a.vmdk");
    ASSERT_EQ(own.size(), 1U);
    EXPECT_EQ(own[0].name, "a.vmdk");
}

TEST(NeutralFormats, VmdkNamesAreFoundWhereADamagedHeaderHidesThem) {
    const ScratchDirectory directory;
    const auto names = [&](const std::string& file) {
        std::ofstream(directory.path() / "d.vmdk", std::ios::binary | std::ios::trunc) << file;
        std::string all;
        for (const auto& found : find_format("vmdk")->references(directory.string(), "d.vmdk")) {
            all += found.kind + " " + found.name + "\n";
        }
        return all;
    };
    // Blanks between the words may be line ends; a parent's name may hold one.
    EXPECT_EQ(names("RW 1\nSPARSE\n\"/up\"\n"), "extent /up\n");
    EXPECT_EQ(names("parentFileNameHint=\"a\n/b\"\n"), "parent a\n/b\n");
    // Extents lie where the header says, modulo 2^64; the parent follows the header in any case.
    std::string sparse(4096, '\0');
    sparse.replace(512, 25, "parentFileNameHint=\"/p\"\n");
    sparse.replace(1024, 16, "RW 1 FLAT \"/x\" 0");
    sparse.replace(0, 4, "KDMV");
    sparse[28] = 2;
    EXPECT_EQ(names(sparse), "parent /p\nextent /x\n");
    sparse[35] = static_cast<char>(0x80);
    EXPECT_EQ(names(sparse), "parent /p\nextent /x\n");
    sparse.replace(0, 4, "COWD");
    EXPECT_EQ(names(sparse), "parent /p\n");
}

void put_be(std::string& file, std::size_t at, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
        file[at + i] = static_cast<char>(value >> (8 * (bytes - 1 - i)));
    }
}

TEST(NeutralFormats, AVmdkImageOfTooManyGrainsIsNotRead) {
    const ScratchDirectory directory;
    RealTools tools(directory.path());
    Case c;
    c.images = {recipe_of("a", "vmdk", 1 << 20)};
    build_images(c, directory.string(), tools);
    const auto open = [&](char capacity, char grain) {
        std::string file = test::read_file(directory.path() / "a.vmdk");
        file[12 + 3] = capacity;  // times 2^24 sectors
        file[20] = grain;
        std::ofstream(directory.path() / "b.vmdk", std::ios::binary | std::ios::trunc) << file;
        return find_format("vmdk")->open(directory.string(), "b.vmdk");
    };
    EXPECT_EQ(open(0, '\x01')->size(), 1U << 20);
    EXPECT_EQ(open(1, '\x01')->size(), (std::uint64_t{1} << 33) + (1U << 20));
    EXPECT_THROW(open(2, '\x01'), ImageError);
}

TEST(NeutralFormats, ParentsOfADifferencingVpcAreFound) {
    const ScratchDirectory directory;
    RealTools tools(directory.path());
    Case c;
    c.images = {recipe_of("a", "vpc", 1 << 20)};
    build_images(c, directory.string(), tools);
    const Format* vpc = find_format("vpc");
    EXPECT_TRUE(vpc->references(directory.string(), "a.vpc").empty());

    std::string file = test::read_file(directory.path() / "a.vpc");
    for (const std::size_t footer : {std::size_t{0}, file.size() - 512}) {
        put_be(file, footer + 60, 4, 4);
    }
    const std::size_t header = 512;
    file.replace(header + 64, 6, std::string("\0p\0.\0v", 6));
    const std::size_t locator = header + 576;
    put_be(file, locator, 0x57327275, 4);  // W2ru
    put_be(file, locator + 8, 8, 4);
    put_be(file, locator + 16, 1600, 8);
    file.replace(1600, 8, std::string(".\0.\0/\0q\0", 8));
    std::ofstream(directory.path() / "a.vpc", std::ios::binary | std::ios::trunc) << file;
    const auto found = vpc->references(directory.string(), "a.vpc");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].kind + " " + found[0].name, "parent p.v");
    EXPECT_EQ(found[1].kind + " " + found[1].name, "parent ../q");
}

}  // namespace
}  // namespace difffuzz

// vdi, qed, qcow and parallels: built and read in-process.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/images/format_properties.hpp"

namespace difffuzz {
namespace {

using test::recipe_of;
using test::ScratchDirectory;

void draw_options(ImageRecipe& recipe, std::uint64_t& unit) {
    if (recipe.format == "vdi") {
        unit = 1U << 20;
        if (test::chance(30)) {
            recipe.options.push_back(
                {"static", WordValue{test::one_of<std::string>({"on", "off"})}});
        }
    } else if (recipe.format == "qcow") {
        unit = test::one_of<std::uint64_t>({512, 4096});
    } else if (test::chance(70)) {
        unit = std::uint64_t{1} << (test::chance(80) ? test::draw(12, 16) : test::draw(17, 21));
        recipe.options.push_back({"cluster_size", plain_size(unit)});
    }
    if (recipe.format == "qed" && test::chance(50)) {
        recipe.options.push_back({"table_size", NumberValue{std::int64_t{1} << test::draw(1, 4)}});
    }
}

ImageRecipe draw_recipe(const std::string& format) {
    ImageRecipe recipe = recipe_of("top", format, 0);
    std::uint64_t unit = 65536;
    draw_options(recipe, unit);
    recipe.size = std::max<std::uint64_t>(test::draw_size(unit), 1);
    if (!find_format(format)->validate(recipe).empty()) {
        recipe.size = 300'000;
    }
    if (format == "qcow") {
        // qemu-img asks for each cluster of 512 bytes.
        recipe.size = std::min<std::uint64_t>(recipe.size, 64U << 20);
    }
    test::draw_content(recipe, unit, round_up(recipe.size, 512));
    return recipe;
}

Case draw_case(const std::string& format) {
    Case c;
    ImageRecipe top = draw_recipe(format);
    if (find_format(format)->backing && test::chance(50)) {
        c.images.push_back(test::chance(60) ? test::draw_raw("base") : test::draw_qcow2("base"));
        top.backing = "base";
    }
    c.images.push_back(top);
    return c;
}

// Readers leave images to qemu-img whose backing file's format is not recorded.
bool has_reader(const Case& c) {
    return !c.images.back().backing ||
           (c.images.back().format == "qed" && c.images[0].format == "raw");
}

void check_without_tools(const std::string& format) {
    const Case c = draw_case(format);
    RC_LOG(test::describe(c));
    const ImageRecipe& top = c.images.back();
    RC_ASSERT(find_format(format)->validate(top) == "");
    const ScratchDirectory directory;
    const ScratchDirectory again;
    test::build_in_process(c, directory);
    test::build_in_process(c, again);
    test::check_only_files_of(c, directory);
    test::check_equal_files(top, directory, again);
    const auto open = [&] {
        return find_format(format)->open(directory.string(), test::main_file(top));
    };
    if (has_reader(c)) {
        test::check_reader(*open(), *model_of(c, "top"));
    } else {
        RC_ASSERT_THROWS_AS(open(), ImageError);
    }
}

void check_with_qemu(const std::string& format) {
    const Case c = draw_case(format);
    RC_LOG(test::describe(c));
    const ScratchDirectory directory;
    test::build_in_process(c, directory);
    test::check_by_qemu(c, directory);
}

class BlockFormats : public testing::TestWithParam<std::string> {};

TEST_P(BlockFormats, AreTheSameTwiceAndReadBackAsTheirModel) {
    test::check_many(GetParam() + " without tools", 100, [] { check_without_tools(GetParam()); });
}

TEST_P(BlockFormats, AreSoundAndTheirModelByQemuImg) {
    test::check_many(GetParam() + " by qemu-img", 12, [] { check_with_qemu(GetParam()); });
}

TEST_P(BlockFormats, OfQemuImgReadBackAsTheyWereWritten) {
    test::check_many(GetParam() + " made by qemu-img", 6, [] {
        Case c;
        c.images.push_back(test::recipe_of("raw0", "raw", 0));
        ImageRecipe& source = c.images.back();
        source.size = test::draw(1, 40) * test::one_of<std::uint64_t>({512, 65536, 1U << 20});
        test::draw_content(source, 65536, source.size);
        RC_LOG(test::describe(c));
        const ScratchDirectory directory;
        test::build_in_process(c, directory);
        const Outcome made = test::run_tool(
            directory.path(),
            {"qemu-img", "convert", "-f", "raw", "-O", GetParam(), "raw0.raw", "made"});
        RC_ASSERT(made.err.head == "");
        test::check_reader(*find_format(GetParam())->open(directory.string(), "made"),
                           *model_of(c, "raw0"));
    });
}

// Whatever a file holds, a reader ends, with an error or with some content, and so does the search
// for references.
TEST_P(BlockFormats, BrokenFilesAreReadOrRefused) {
    std::size_t refused = 0;
    test::check_many(GetParam() + " broken", 100, [&] {
        const Case c = draw_case(GetParam());
        const ScratchDirectory directory;
        test::build_in_process(c, directory);
        const std::string name = test::main_file(c.images.back());
        std::fstream file(directory.path() / name, std::ios::in | std::ios::out | std::ios::binary);
        for (std::uint64_t changes = test::draw(1, 4); changes > 0; --changes) {
            const std::uint64_t at = test::one_of<std::uint64_t>(
                {test::draw(0, 80), test::draw(0, 80), test::draw(0, 600), test::draw(0, 400'000)});
            file.seekp(static_cast<std::streamoff>(at));
            file.put(static_cast<char>(test::draw(0, 255)));
        }
        file.close();
        const Format* format = find_format(GetParam());
        format->references(directory.string(), name);
        try {
            summarise(*format->open(directory.string(), name));
        } catch (const ImageError&) {
            ++refused;
        }
    });
    EXPECT_GT(refused, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, BlockFormats, testing::Values("vdi", "qed", "qcow", "parallels"),
                         [](const auto& suite) { return suite.param; });

TEST(BlockFormatReferences, NameTheBackingFile) {
    for (const std::string format : {"qed", "qcow"}) {
        Case c;
        c.images = {recipe_of("base", "raw", 1 << 20), recipe_of("top", format, 1 << 20)};
        c.images[1].backing = "base";
        const ScratchDirectory directory;
        test::build_in_process(c, directory);
        const std::string name = "top." + format;
        const auto found = find_format(format)->references(directory.string(), name);
        ASSERT_EQ(found.size(), 1U) << format;
        EXPECT_EQ(found[0].kind + " " + found[0].name, "backing base.raw");
        EXPECT_TRUE(find_format(format)->references(directory.string(), "base.raw").empty());
        EXPECT_TRUE(find_format(format)->references(directory.string(), "absent").empty());
    }
}

TEST(BlockFormatReaders, LeaveImagesOfTooManyClusters) {
    for (const std::uint64_t size : {std::uint64_t{1} << 42, std::uint64_t{1} << 43}) {
        const ScratchDirectory directory;
        Case c;
        c.images = {recipe_of("a", "qed", size)};
        test::build_in_process(c, directory);
        const auto open = [&] { return find_format("qed")->open(directory.string(), "a.qed"); };
        if (size == std::uint64_t{1} << 42) {
            EXPECT_EQ(open()->size(), size);
        } else {
            EXPECT_THROW(open(), ImageError);
        }
    }
}

TEST(BlockFormatReferences, AFixedVpcImageCannotBackWhatFindsFormatsOutByLooking) {
    Case c;
    c.images = {recipe_of("base", "vpc", 1 << 20, {}, {{"subformat", WordValue{"fixed"}}}),
                recipe_of("top", "qed", 1 << 20)};
    c.images[1].backing = "base";
    const ScratchDirectory directory;
    test::RealTools tools(directory.path());
    EXPECT_THROW(build_images(c, directory.string(), tools), ImageError);
}

}  // namespace
}  // namespace difffuzz

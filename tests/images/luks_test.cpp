// Built and read in-process, and held against qemu-img.
#include "images/luks.hpp"

#include <gtest/gtest.h>

#include "tests/images/format_properties.hpp"

namespace difffuzz {
namespace {

using test::main_file;
using test::recipe_of;
using test::ScratchDirectory;

Case draw_case() {
    ImageRecipe recipe = recipe_of("top", "luks", test::draw(1, 600'000));
    test::draw_content(recipe, 4096, round_up(recipe.size, 512));
    std::erase_if(recipe.content, [](const ContentWrite& write) {
        return write.kind != WriteKind::write && write.kind != WriteKind::zero;
    });
    Case c;
    c.images = {recipe};
    return c;
}

const std::vector<std::string> secret{"--object", "secret,id=s,data=letters"};

std::string by_driver(const std::string& name) {
    return "driver=luks,key-secret=s,file.driver=file,file.filename=" + name;
}

// What qemu-img reads from the image.
VirtualContent content_by_qemu(const ScratchDirectory& directory, const std::string& name) {
    const Outcome outcome =
        test::run_tool(directory.path(), {"qemu-img", "convert", secret[0], secret[1],
                                          "--image-opts", "-O", "raw", by_driver(name), "out.raw"});
    EXPECT_EQ(outcome.ending, Ending{Exited{0}}) << outcome.err.head;
    const VirtualContent content =
        summarise(*find_format("raw")->open(directory.string(), "out.raw"));
    std::filesystem::remove(directory.path() / "out.raw");
    return content;
}

TEST(Luks, IsWhatTheRecipeSays) {
    rc::check("content, files, reader", [] {
        const Case c = draw_case();
        const ScratchDirectory one;
        const ScratchDirectory other;
        for (const ScratchDirectory* directory : {&one, &other}) {
            test::RealTools tools(directory->path());
            build_images(c, directory->string(), tools);
        }
        test::check_only_files_of(c, one);
        test::check_equal_files(c.images[0], one, other);
        test::check_reader(*find_format("luks")->open(one.string(), "top.luks"),
                           *model_of(c, "top"));
        RC_ASSERT(content_by_qemu(one, "top.luks") == summarise(*model_of(c, "top")));
    });
}

TEST(Luks, OfQemuImgIsReadAlike) {
    const ScratchDirectory directory;
    Case c;
    c.images = {recipe_of("top", "raw", 300'000)};
    c.images[0].content = {{WriteKind::write, 5000, 70'000, RandomFill{7}}};
    test::RealTools tools(directory.path());
    build_images(c, directory.string(), tools);
    const Outcome outcome = test::run_tool(
        directory.path(), {"qemu-img", "convert", secret[0], secret[1], "-f", "raw", "-O", "luks",
                           "-o", "key-secret=s,iter-time=10", main_file(c.images[0]), "made.luks"});
    ASSERT_EQ(outcome.ending, Ending{Exited{0}}) << outcome.err.head;
    EXPECT_EQ(summarise(*find_format("luks")->open(directory.string(), "made.luks")),
              content_by_qemu(directory, "made.luks"));
}

TEST(Luks, WhatCannotBeReadIsSaid) {
    const auto why = [](std::vector<Damage> damage) -> std::string {
        Case c;
        c.images = {recipe_of("top", "luks", 4096)};
        c.images[0].damage = std::move(damage);
        const ScratchDirectory directory;
        test::RealTools tools(directory.path());
        build_images(c, directory.string(), tools);
        try {
            find_format("luks")->open(directory.string(), "top.luks");
        } catch (const ImageError& error) {
            return error.what();
        }
        return {};
    };
    const std::string whole = "top.luks: is not a luks image that can be read: ";
    EXPECT_EQ(why({}), "");
    EXPECT_EQ(why({{"header.magic", 0, 0}}), whole + "no header of version 1");
    EXPECT_EQ(why({{"header.version", 0, 2}}), whole + "no header of version 1");
    EXPECT_EQ(why({{"header.mode", 0, 0}}), whole + "another cipher than AES-256-XTS with SHA-256");
    EXPECT_EQ(why({{"header.payload", 0, 0xffffffff}}),
              "top.luks: the luks payload begins past the end of the file");
    for (const char* field : {"slot.state", "slot.iterations", "slot.salt", "slot.material",
                              "slot.stripes", "header.digest", "header.digest_iterations"}) {
        EXPECT_EQ(why({{field, 0, 0xffffffff}}), whole + "no slot opens") << field;
    }
}

}  // namespace
}  // namespace difffuzz

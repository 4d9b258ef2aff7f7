// Built and read in-process, and held against qemu-img.
#include <gtest/gtest.h>

#include "tests/images/locked_properties.hpp"

namespace difffuzz {
namespace {

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

TEST(Luks, IsWhatTheRecipeSays) {
    rc::check("content, files, reader", [] {
        const ScratchDirectory one;
        const ScratchDirectory other;
        test::check_locked_image(draw_case(), "luks", one, other);
    });
}

TEST(Luks, OfQemuImgIsReadAlike) {
    test::check_locked_image_of_qemu("luks", "key-secret=sec0,iter-time=10");
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

// Encrypted qcow2 images, built and read in-process, and held against qemu-img.
#include <gtest/gtest.h>

#include "images/qcow2_snapshots.hpp"
#include "tests/images/locked_properties.hpp"

namespace difffuzz {
namespace {

using test::chance;
using test::recipe_of;
using test::ScratchDirectory;

Case draw_case() {
    const bool extended = chance(30);
    const std::uint64_t cluster =
        extended ? test::one_of<std::uint64_t>({16384, 65536})
                 : test::one_of<std::uint64_t>({512, 4096, 65536, std::uint64_t{2} << 20});
    ImageRecipe recipe = recipe_of("top", "qcow2", test::draw(1, 600'000));
    recipe.options = {
        {"cluster_size", SizeValue{cluster, std::to_string(cluster)}},
        {"extended_l2", WordValue{extended ? "on" : "off"}},
        {std::string(encryption_option), WordValue{"luks"}},
    };
    test::draw_content(recipe, cluster, round_up(recipe.size, 512));
    std::erase_if(recipe.content,
                  [](const ContentWrite& write) { return write.kind == WriteKind::compressed; });
    if (chance(50)) {
        recipe.snapshots = {{"snap", static_cast<std::uint32_t>(recipe.content.size() / 2)}};
    }
    Case c;
    c.images = {recipe};
    return c;
}

TEST(EncryptedQcow2, IsWhatTheRecipeSays) {
    rc::check("content, files, reader, structure", [] {
        const Case c = draw_case();
        const ScratchDirectory one;
        const ScratchDirectory other;
        test::check_locked_image(c, "qcow2", one, other);
        if (!c.images[0].snapshots.empty()) {
            RC_ASSERT(summarise(*qcow2::open_snapshot(one.string(), "top.qcow2", "1")) ==
                      summarise(*model_of(c, ContentExpectation::of_snapshot("top", 0))));
        }
        const Outcome check = test::run_tool(
            one.path(), {"qemu-img", "check", "--object", test::secret_object, "--image-opts",
                         locked_image_options("qcow2", "top.qcow2")});
        RC_ASSERT(check.ending == Ending{Exited{0}});
    });
}

TEST(EncryptedQcow2, OfQemuImgIsReadAlike) {
    test::check_locked_image_of_qemu(
        "qcow2",
        "encrypt.format=luks,encrypt.key-secret=sec0,encrypt.iter-time=10,cluster_size=4096");
}

TEST(EncryptedQcow2, HoldsNothingCompressedAndNeedsVersion3) {
    Case c;
    c.images = {recipe_of("top", "qcow2", 1 << 20)};
    ImageRecipe& image = c.images[0];
    image.options = {{std::string(encryption_option), WordValue{"luks"}}};
    EXPECT_EQ(broken_recipe(image), "");
    image.content = {{WriteKind::compressed, 0, 65536, RandomFill{7}}};
    EXPECT_EQ(broken_recipe(image),
              "image top: an encrypted image cannot hold compressed clusters");
    image.content = {};
    image.options.push_back({"compat", WordValue{"0.10"}});
    EXPECT_EQ(broken_recipe(image), "image top: version 2 (compat=0.10) has no encryption by LUKS");
}

}  // namespace
}  // namespace difffuzz

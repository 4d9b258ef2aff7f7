// Encrypted qcow2 images, built and read in-process, and held against qemu-img.
#include <gtest/gtest.h>

#include "core/tools/dialect.hpp"
#include "images/luks.hpp"
#include "images/qcow2_snapshots.hpp"
#include "tests/images/format_properties.hpp"

namespace difffuzz {
namespace {

using test::chance;
using test::main_file;
using test::recipe_of;
using test::ScratchDirectory;

const std::string secret = "secret,id=sec0,data=" + std::string(luks_password);

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

// What qemu-img reads from the image.
VirtualContent content_by_qemu(const ScratchDirectory& directory, const std::string& name) {
    const Outcome outcome = test::run_tool(
        directory.path(), {"qemu-img", "convert", "--object", secret, "--image-opts", "-O", "raw",
                           locked_image_options("qcow2", name), "out.raw"});
    EXPECT_EQ(outcome.ending, Ending{Exited{0}}) << outcome.err.head;
    const VirtualContent content =
        summarise(*find_format("raw")->open(directory.string(), "out.raw"));
    std::filesystem::remove(directory.path() / "out.raw");
    return content;
}

TEST(EncryptedQcow2, IsWhatTheRecipeSays) {
    rc::check("content, files, reader, structure", [] {
        const Case c = draw_case();
        const ScratchDirectory one;
        const ScratchDirectory other;
        for (const ScratchDirectory* directory : {&one, &other}) {
            test::RealTools tools(directory->path());
            build_images(c, directory->string(), tools);
        }
        test::check_equal_files(c.images[0], one, other);
        test::check_reader(*find_format("qcow2")->open(one.string(), "top.qcow2"),
                           *model_of(c, "top"));
        RC_ASSERT(content_by_qemu(one, "top.qcow2") == summarise(*model_of(c, "top")));
        if (!c.images[0].snapshots.empty()) {
            RC_ASSERT(summarise(*qcow2::open_snapshot(one.string(), "top.qcow2", "1")) ==
                      summarise(*model_of(c, ContentExpectation::of_snapshot("top", 0))));
        }
        const Outcome check =
            test::run_tool(one.path(), {"qemu-img", "check", "--object", secret, "--image-opts",
                                        locked_image_options("qcow2", "top.qcow2")});
        RC_ASSERT(check.ending == Ending{Exited{0}});
    });
}

TEST(EncryptedQcow2, OfQemuImgIsReadAlike) {
    const ScratchDirectory directory;
    Case c;
    c.images = {recipe_of("top", "raw", 300'000)};
    c.images[0].content = {{WriteKind::write, 5000, 70'000, RandomFill{7}}};
    test::RealTools tools(directory.path());
    build_images(c, directory.string(), tools);
    const Outcome outcome = test::run_tool(
        directory.path(),
        {"qemu-img", "convert", "--object", secret, "-f", "raw", "-O", "qcow2", "-o",
         "encrypt.format=luks,encrypt.key-secret=sec0,encrypt.iter-time=10,cluster_size=4096",
         main_file(c.images[0]), "made.qcow2"});
    ASSERT_EQ(outcome.ending, Ending{Exited{0}}) << outcome.err.head;
    EXPECT_EQ(summarise(*find_format("qcow2")->open(directory.string(), "made.qcow2")),
              summarise(*model_of(c, "top")));
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

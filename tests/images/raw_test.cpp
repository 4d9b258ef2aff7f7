#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "images/image_error.hpp"
#include "tests/images/image_support.hpp"
#include "tests/images/random_images.hpp"

namespace difffuzz {
namespace {

using test::recipe_of;
using test::ScratchDirectory;

TEST(Raw, ReadsBackEqualAndIsAsLongAsAsked) {
    test::check_many("raw reads back equal", 500, [] {
        Case c;
        c.images.push_back(test::draw_raw("a"));
        const ScratchDirectory directory;
        test::build_in_process(c, directory);
        RC_ASSERT(std::filesystem::file_size(directory.path() / "a.raw") == c.images[0].size);
        RC_ASSERT(test::content_of(directory, "a.raw", "raw") == summarise(*model_of(c, "a")));
    });
}

TEST(Raw, QemuImgReadsTheModel) {
    test::check_many("qemu-img reads the model of a raw image", 60, [] {
        Case c;
        c.images.push_back(test::draw_raw("a"));
        const ScratchDirectory directory;
        test::build_in_process(c, directory);
        RC_ASSERT(test::content_by_qemu(directory, "a.raw", "raw") == summarise(*model_of(c, "a")));
    });
}

TEST(Raw, ZerosAreHoles) {
    Case c;
    c.images.push_back(recipe_of("a", "raw", std::uint64_t{5} << 30,
                                 {{WriteKind::zero, 0, 1 << 20, {}},
                                  {WriteKind::write, 1 << 20, 1 << 20, ByteFill{0}},
                                  {WriteKind::write, std::uint64_t{4} << 30, 10, ByteFill{1}}}));
    const ScratchDirectory directory;
    test::build_in_process(c, directory);
    struct stat status {};
    ASSERT_EQ(::stat((directory.path() / "a.raw").c_str(), &status), 0);
    EXPECT_LE(status.st_blocks, 16);
}

TEST(Raw, RefusesWhatIsNoRegularFile) {
    const ScratchDirectory directory;
    std::filesystem::create_symlink("/etc/hostname", directory.path() / "link.raw");
    ASSERT_EQ(::mkfifo((directory.path() / "fifo.raw").c_str(), 0600), 0);
    const Format* raw = find_format("raw");
    EXPECT_THROW(raw->open(directory.string(), "link.raw"), ImageError);
    EXPECT_THROW(raw->open(directory.string(), "fifo.raw"), ImageError);
    EXPECT_THROW(raw->open(directory.string(), "."), ImageError);
    EXPECT_THROW(raw->open(directory.string(), "absent.raw"), ImageError);
}

TEST(Raw, NeverOverwritesAFile) {
    Case c;
    c.images.push_back(recipe_of("a", "raw", 512));
    const ScratchDirectory directory;
    test::build_in_process(c, directory);
    EXPECT_THROW(test::build_in_process(c, directory), ImageError);
}

}  // namespace
}  // namespace difffuzz

// What images that are opened with a secret have in common.
#pragma once

#include "core/tools/dialect.hpp"
#include "images/luks.hpp"
#include "tests/images/format_properties.hpp"

namespace difffuzz::test {

inline const std::string secret_object =
    "secret,id=" + std::string(secret_id) + ",data=" + std::string(luks_password);

// What qemu-img reads from the image.
inline VirtualContent locked_content_by_qemu(const ScratchDirectory& directory,
                                             std::string_view format, const std::string& name) {
    const Outcome outcome = run_tool(
        directory.path(), {"qemu-img", "convert", "--object", secret_object, "--image-opts", "-O",
                           "raw", locked_image_options(format, name), "out.raw"});
    EXPECT_EQ(outcome.ending, Ending{Exited{0}}) << outcome.err.head;
    const VirtualContent content =
        summarise(*find_format("raw")->open(directory.string(), "out.raw"));
    std::filesystem::remove(directory.path() / "out.raw");
    return content;
}

// Builds the case's only image, "top", in both directories: equal files, read alike by us and by
// qemu-img, and what the model has.
inline void check_locked_image(const Case& c, const std::string& format,
                               const ScratchDirectory& one, const ScratchDirectory& other) {
    for (const ScratchDirectory* directory : {&one, &other}) {
        RealTools tools(directory->path());
        build_images(c, directory->string(), tools);
    }
    const std::string name = "top." + format;
    check_only_files_of(c, one);
    check_equal_files(c.images[0], one, other);
    check_reader(*find_format(format)->open(one.string(), name), *model_of(c, "top"));
    RC_ASSERT(locked_content_by_qemu(one, format, name) == summarise(*model_of(c, "top")));
}

// An image that qemu-img makes with these creation options reads as the case's raw image "top".
inline void check_locked_image_of_qemu(const std::string& format, const std::string& options) {
    const ScratchDirectory directory;
    Case c;
    c.images = {recipe_of("top", "raw", 300'000)};
    c.images[0].content = {{WriteKind::write, 5000, 70'000, RandomFill{7}}};
    RealTools tools(directory.path());
    build_images(c, directory.string(), tools);
    const std::string name = "made." + format;
    const Outcome outcome =
        run_tool(directory.path(), {"qemu-img", "convert", "--object", secret_object, "-f", "raw",
                                    "-O", format, "-o", options, main_file(c.images[0]), name});
    ASSERT_EQ(outcome.ending, Ending{Exited{0}}) << outcome.err.head;
    const VirtualContent content = summarise(*find_format(format)->open(directory.string(), name));
    EXPECT_EQ(content, locked_content_by_qemu(directory, format, name));
    EXPECT_EQ(first_difference(content, summarise(*model_of(c, "top"))), std::nullopt);
}

}  // namespace difffuzz::test

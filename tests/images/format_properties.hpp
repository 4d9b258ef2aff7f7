// What images of every format must be, whoever builds them.
#pragma once

#include "images/format.hpp"
#include "images/image_error.hpp"
#include "tests/images/image_support.hpp"
#include "tests/images/random_images.hpp"

namespace difffuzz::test {

inline std::string main_file(const ImageRecipe& recipe) {
    return file_name(recipe.id, recipe.format);
}

// Empty when `qemu-img check` finds nothing, else what it said.
inline std::string complaint_of(const ScratchDirectory& directory, const ImageRecipe& recipe) {
    const Outcome outcome =
        run_tool(directory.path(), {"qemu-img", "check", "-f", recipe.format, main_file(recipe)});
    const bool clean = outcome.ending == Ending{Exited{0}} &&
                       outcome.out.head.find("No errors were found on the image.") == 0 &&
                       outcome.err.head.empty();
    return clean ? std::string{} : outcome.out.head + outcome.err.head;
}

// The reader agrees with `expected`, whole and in parts.
inline void check_reader(const ContentSource& reader, const ContentSource& expected) {
    RC_ASSERT(summarise(reader) == summarise(expected));
    for (int i = 0; i < 5 && expected.size() > 0; ++i) {
        const std::uint64_t offset = draw(0, expected.size() - 1);
        std::vector<std::byte> ours(std::min(expected.size() - offset, draw(1, 100'000)));
        std::vector<std::byte> theirs(ours.size());
        reader.read(offset, ours);
        expected.read(offset, theirs);
        RC_ASSERT(ours == theirs);
    }
}

// Built twice, all files of the image are the same.
inline void check_equal_files(const ImageRecipe& recipe, const ScratchDirectory& one,
                              const ScratchDirectory& other) {
    for (const std::string& name : files_of(recipe)) {
        if (std::filesystem::file_size(one.path() / name) < (16U << 20)) {
            RC_ASSERT(read_file(one.path() / name) == read_file(other.path() / name));
        } else {
            RC_ASSERT(summarise(*find_format("raw")->open(one.string(), name)) ==
                      summarise(*find_format("raw")->open(other.string(), name)));
        }
    }
}

// Nothing is in the directory but the files of the case's images.
inline void check_only_files_of(const Case& c, const ScratchDirectory& directory) {
    std::vector<std::string> expected;
    for (const ImageRecipe& image : c.images) {
        for (const std::string& name : files_of(image)) {
            expected.push_back(name);
        }
    }
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
        found.push_back(entry.path().filename());
    }
    std::ranges::sort(expected);
    std::ranges::sort(found);
    RC_ASSERT(found == expected);
}

// qemu-img finds nothing to complain about, and size and content are those of the model.
inline void check_by_qemu(const Case& c, const ScratchDirectory& directory) {
    const ImageRecipe& top = c.images.back();
    const Format& format = *find_format(top.format);
    // qemu-img takes a parallels image without clusters to end after one of them, however long its
    // allocation table is.
    const bool holds_data = std::ranges::any_of(
        top.content, [](const ContentWrite& write) { return has_data(write.kind); });
    if (format.checkable && (top.format != "parallels" || holds_data)) {
        RC_ASSERT(complaint_of(directory, top) == "");
    }
    RC_ASSERT(size_by_qemu(directory, main_file(top), top.format) == format.actual_size(top));
    RC_ASSERT(content_by_qemu(directory, main_file(top), top.format) ==
              summarise(*model_of(c, top.id)));
}

}  // namespace difffuzz::test

// What every qcow2 image that is built in-process must be.
#pragma once

#include "tests/images/image_support.hpp"
#include "tests/images/random_images.hpp"

namespace difffuzz::test {

// Built twice it is the same, and it reads back as its model, whole and in parts.
inline void check_qcow2_without_tools() {
    const Case c = draw_chain();
    RC_LOG(describe(c));
    const ScratchDirectory directory;
    const ScratchDirectory again;
    build_in_process(c, directory);
    build_in_process(c, again);
    for (const ImageRecipe& image : c.images) {
        const std::string name = file_name(image.id, image.format);
        if (std::filesystem::file_size(directory.path() / name) < (8U << 20)) {
            RC_ASSERT(read_file(directory.path() / name) == read_file(again.path() / name));
        }
        const auto model = model_of(c, image.id);
        const auto reader = find_format(image.format)->open(directory.string(), name);
        RC_ASSERT(summarise(*reader) == summarise(*model));
        for (int i = 0; i < 5 && model->size() > 0; ++i) {
            const std::uint64_t offset = draw(0, model->size() - 1);
            std::vector<std::byte> ours(std::min(model->size() - offset, draw(1, 100'000)));
            std::vector<std::byte> theirs(ours.size());
            model->read(offset, ours);
            reader->read(offset, theirs);
            RC_ASSERT(ours == theirs);
        }
    }
}

// qemu-img finds nothing to complain about and reads the model.
inline void check_qcow2_by_qemu() {
    const Case c = draw_chain();
    RC_LOG(describe(c));
    const ScratchDirectory directory;
    build_in_process(c, directory);
    RC_ASSERT(complaint_of_check(directory, "top.qcow2") == "");
    RC_ASSERT(content_by_qemu(directory, "top.qcow2", "qcow2") == summarise(*model_of(c, "top")));
}

}  // namespace difffuzz::test

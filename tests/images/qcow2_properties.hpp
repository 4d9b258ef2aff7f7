// What every qcow2 image that is built in-process must be.
#pragma once

#include <nlohmann/json.hpp>

#include "images/interval_map.hpp"
#include "images/qcow2_bitmaps.hpp"
#include "images/qcow2_snapshots.hpp"
#include "tests/images/image_support.hpp"
#include "tests/images/random_images.hpp"

namespace difffuzz::test {

inline VirtualContent model_of_snapshot(const Case& c, const std::string& id, std::size_t index) {
    return summarise(*model_of(c, ContentExpectation::of_snapshot(id, index)));
}

// Whole granules, joined.
inline std::vector<ByteRange> expected_dirty(const BitmapRecipe& bitmap, std::uint64_t disk_size) {
    IntervalMap<bool> granules;
    for (const ByteRange& range : bitmap.dirty) {
        granules.assign(range.offset / bitmap.granularity,
                        divide_up(range.offset + range.length, bitmap.granularity), true);
    }
    std::vector<ByteRange> dirty;
    for (const auto& [begin, range] : granules.ranges()) {
        const std::uint64_t offset = begin * bitmap.granularity;
        const std::uint64_t end = std::min(range.end * bitmap.granularity, disk_size);
        if (!dirty.empty() && dirty.back().offset + dirty.back().length == offset) {
            dirty.back().length = end - dirty.back().offset;
        } else {
            dirty.push_back({offset, end - offset});
        }
    }
    return dirty;
}

inline void require_bitmaps(const ImageRecipe& image, const std::string& directory,
                            const std::string& name) {
    const auto bitmaps = qcow2::list_bitmaps(directory, name);
    RC_ASSERT(bitmaps.size() == image.bitmaps.size());
    for (std::size_t i = 0; i < bitmaps.size(); ++i) {
        const BitmapRecipe& expected = image.bitmaps[i];
        RC_ASSERT(bitmaps[i].name == expected.name);
        RC_ASSERT(bitmaps[i].granularity == expected.granularity);
        RC_ASSERT(bitmaps[i].enabled == expected.enabled);
        RC_ASSERT(!bitmaps[i].in_use);
        RC_ASSERT(bitmaps[i].dirty == expected_dirty(expected, round_up(image.size, 512)));
    }
}

inline void require_snapshots(const Case& c, const ImageRecipe& image, const std::string& directory,
                              const std::string& name) {
    const auto snapshots = qcow2::list_snapshots(directory, name);
    RC_ASSERT(snapshots.size() == image.snapshots.size());
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
        RC_ASSERT(snapshots[i].id == std::to_string(i + 1));
        RC_ASSERT(snapshots[i].name == image.snapshots[i].name);
        RC_ASSERT(snapshots[i].size == round_up(image.size, 512));
        const auto reader = find_format("qcow2")->open_snapshot(directory, name, snapshots[i].id);
        RC_ASSERT(summarise(*reader) == model_of_snapshot(c, image.id, i));
    }
}

// Built twice it is the same, and it reads back as its model: whole and in parts, in each snapshot,
// and its bitmaps.
inline void check_qcow2_without_tools() {
    const Case c = draw_chain();
    RC_LOG(describe(c));
    const ScratchDirectory directory;
    const ScratchDirectory again;
    build_in_process(c, directory);
    build_in_process(c, again);
    for (const ImageRecipe& image : c.images) {
        for (const std::string& file : files_of(image)) {
            if (std::filesystem::file_size(directory.path() / file) < (8U << 20)) {
                RC_ASSERT(read_file(directory.path() / file) == read_file(again.path() / file));
            }
        }
        const std::string name = file_name(image.id, image.format);
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
        if (word_of(image, "data_file_raw") == "on") {
            RC_ASSERT(content_of(directory, image.id + ".data", "raw") == summarise(*model));
        }
        if (image.format == "qcow2") {
            require_snapshots(c, image, directory.string(), name);
            require_bitmaps(image, directory.string(), name);
        }
    }
}

// As `info` prints a name: bytes that are not UTF-8 as replacement characters.
inline std::string printed(std::string name) {
    for (const char byte : {'\xff', '\xfe'}) {
        for (std::size_t at = name.find(byte); at != std::string::npos; at = name.find(byte)) {
            name.replace(at, 1, "\xef\xbf\xbd");
        }
    }
    return name;
}

inline void require_info(const ImageRecipe& image, const ScratchDirectory& directory,
                         const std::string& name) {
    using nlohmann::json;
    const Outcome outcome =
        run_tool(directory.path(), {"qemu-img", "info", "--output=json", "-f", "qcow2", name});
    const json info = json::parse(outcome.out.head);
    const json& data = info.at("format-specific").at("data");
    const auto is_on = [&](const char* option) { return word_of(image, option) == "on"; };
    RC_ASSERT(data.at("compat") == (is_version_2(image) ? "0.10" : "1.1"));
    RC_ASSERT(data.at("refcount-bits") == refcount_bits_of(image));
    RC_ASSERT(data.value("lazy-refcounts", false) == is_on("lazy_refcounts"));
    RC_ASSERT(data.value("extended-l2", false) == is_on("extended_l2"));
    RC_ASSERT(!data.value("corrupt", false));
    RC_ASSERT(data.value("data-file", "") == word_of(image, "data_file"));
    RC_ASSERT(data.value("data-file-raw", false) == is_on("data_file_raw"));
    json bitmaps = json::array();
    for (const BitmapRecipe& bitmap : image.bitmaps) {
        const json flags = bitmap.enabled ? json::array({"auto"}) : json::array();
        bitmaps.push_back({{"name", printed(bitmap.name)},
                           {"granularity", bitmap.granularity},
                           {"flags", flags}});
    }
    RC_ASSERT(data.value("bitmaps", json::array()) == bitmaps);
    const json snapshots = info.value("snapshots", json::array());
    RC_ASSERT(snapshots.size() == image.snapshots.size());
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
        RC_ASSERT(snapshots[i].at("id") == std::to_string(i + 1));
        RC_ASSERT(snapshots[i].at("name") == printed(image.snapshots[i].name));
        RC_ASSERT(snapshots[i].at("vm-state-size") == 0);
    }
}

inline void require_success(const ScratchDirectory& directory,
                            const std::vector<std::string>& argv) {
    const Outcome outcome = run_tool(directory.path(), argv);
    RC_LOG(outcome.err.head);
    RC_ASSERT(outcome.ending == Ending{Exited{0}});
}

// qemu-img finds nothing to complain about, and reads the model, each snapshot's too. What it says
// of the image is what the recipe asks for, and it copies the bitmaps as they are.
inline void check_qcow2_by_qemu() {
    const Case c = draw_chain();
    RC_LOG(describe(c));
    const ScratchDirectory directory;
    build_in_process(c, directory);
    const ImageRecipe& top = c.images.back();
    RC_ASSERT(complaint_of_check(directory, "top.qcow2") == "");
    RC_ASSERT(content_by_qemu(directory, "top.qcow2", "qcow2") == summarise(*model_of(c, "top")));
    require_info(top, directory, "top.qcow2");
    for (std::size_t i = 0; i < top.snapshots.size(); ++i) {
        require_success(directory,
                        {"qemu-img", "convert", "-l", "snapshot.id=" + std::to_string(i + 1), "-f",
                         "qcow2", "-O", "raw", "top.qcow2", "snapshot.flat"});
        RC_ASSERT(content_of(directory, "snapshot.flat", "raw") == model_of_snapshot(c, "top", i));
    }
    if (!top.bitmaps.empty()) {
        require_success(directory, {"qemu-img", "convert", "--bitmaps", "-f", "qcow2", "-O",
                                    "qcow2", "top.qcow2", "copy.qcow2"});
        require_bitmaps(top, directory.string(), "copy.qcow2");
    }
}

}  // namespace difffuzz::test

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "images/bytes.hpp"
#include "images/image_error.hpp"
#include "images/qcow2_bitmaps.hpp"
#include "images/qcow2_layout.hpp"
#include "images/qcow2_snapshots.hpp"
#include "tests/images/image_support.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;
using test::recipe_of;
using test::ScratchDirectory;

constexpr std::uint64_t cluster = 65536;

void must_run(const ScratchDirectory& directory, const std::vector<std::string>& argv) {
    const Outcome outcome = test::run_tool(directory.path(), argv);
    ASSERT_EQ(outcome.ending, Ending{Exited{0}})
        << testing::PrintToString(argv) << outcome.out.head << outcome.err.head;
}

// Builds the case, which must be clean, and returns what `map` says of its last image: for each
// cluster a letter, "." not there, "0" zero, "+" zero and allocated, "d" data, "c" compressed.
std::string map_of(const Case& c, const ScratchDirectory& directory) {
    test::build_in_process(c, directory);
    const ImageRecipe& image = c.images.back();
    const std::string name = file_name(image.id, image.format);
    EXPECT_EQ(test::complaint_of_check(directory, name), "");
    EXPECT_EQ(test::content_by_qemu(directory, name, "qcow2"), summarise(*model_of(c, image.id)));
    const Outcome outcome =
        test::run_tool(directory.path(), {"qemu-img", "map", "--output=json", "-f", "qcow2", name});
    std::string map;
    for (const json& part : json::parse(outcome.out.head)) {
        const bool own = part.at("present") && part.at("depth") == 0;
        const bool offset = part.contains("offset");
        const char kind = !own ? '.' : part.at("zero") ? (offset ? '+' : '0') : offset ? 'd' : 'c';
        map += std::string(part.at("length").get<std::uint64_t>() / cluster, kind);
    }
    return map;
}

Case one_image(std::vector<ContentWrite> content, std::vector<FormatOption> options = {},
               std::uint64_t size = 4 * cluster) {
    Case c;
    c.images.push_back(recipe_of("a", "qcow2", size, std::move(content), std::move(options)));
    return c;
}

Case over_raw(Case c) {
    c.images.insert(c.images.begin(),
                    recipe_of("base", "raw", c.images[0].size,
                              {{WriteKind::write, 0, c.images[0].size, ByteFill{9}}}));
    c.images[1].backing = "base";
    return c;
}

const FormatOption version_2{"compat", WordValue{"0.10"}};

TEST(Qcow2Features, UnmappedClustersAreNotAllocated) {
    const std::vector<ContentWrite> content{{WriteKind::write, 0, 3 * cluster, ByteFill{1}},
                                            {WriteKind::unmap, cluster, cluster, {}}};
    EXPECT_EQ(map_of(one_image(content), ScratchDirectory()), "d.d.");
    EXPECT_EQ(map_of(one_image(content, {version_2}), ScratchDirectory()), "d.d.");
    EXPECT_EQ(map_of(over_raw(one_image(content)), ScratchDirectory()), "d0d.");
}

TEST(Qcow2Features, Version2WritesZerosWhereItMust) {
    const std::vector<ContentWrite> content{{WriteKind::write, 0, cluster, ByteFill{1}},
                                            {WriteKind::compressed, cluster, cluster, ByteFill{1}},
                                            {WriteKind::zero, 0, 3 * cluster, {}}};
    EXPECT_EQ(map_of(one_image(content), ScratchDirectory()), "+00.");
    // Allocated, and holes in the file.
    EXPECT_EQ(map_of(one_image(content, {version_2}), ScratchDirectory()), "++..");
    EXPECT_EQ(map_of(over_raw(one_image(content, {version_2})), ScratchDirectory()), "+++.");
}

TEST(Qcow2Features, CompressedClustersShareAHostClusterAsFarAsItCanCount) {
    const std::vector<ContentWrite> content{{WriteKind::compressed, 0, 4 * cluster, ByteFill{1}}};
    std::vector<std::uintmax_t> sizes;
    for (const std::int64_t bits : {1, 2, 16}) {
        const ScratchDirectory directory;
        EXPECT_EQ(map_of(one_image(content, {{"refcount_bits", NumberValue{bits}}}), directory),
                  "cccc");
        sizes.push_back(std::filesystem::file_size(directory.path() / "a.qcow2") / cluster);
    }
    EXPECT_EQ(sizes, (std::vector<std::uintmax_t>{9, 7, 6}));
}

TEST(Qcow2Features, SubclustersLetTheBackingFileThrough) {
    const Case c = over_raw(one_image({{WriteKind::write, 5000, 10, ByteFill{1}},
                                       {WriteKind::zero, cluster, 8192, {}},
                                       {WriteKind::compressed, 3 * cluster, cluster, ByteFill{3}}},
                                      {{"extended_l2", WordValue{"on"}}}));
    const ScratchDirectory directory;
    map_of(c, directory);
    const Outcome outcome = test::run_tool(
        directory.path(), {"qemu-img", "map", "--output=json", "-f", "qcow2", "a.qcow2"});
    // One subcluster has 2048 bytes.
    std::string depths;
    for (const json& part : json::parse(outcome.out.head)) {
        depths += std::to_string(part.at("start").get<std::uint64_t>()) + ":" +
                  std::to_string(part.at("depth").get<int>()) + (part.at("zero") ? "z " : " ");
    }
    EXPECT_EQ(depths, "0:1 4096:0 6144:1 65536:0z 73728:1 196608:0 ");
}

TEST(Qcow2Features, SnapshotsShareWhatNothingTouches) {
    Case c = one_image({{WriteKind::write, 0, 3 * cluster, RandomFill{1}},
                        {WriteKind::write, cluster, 1, ByteFill{2}}});
    c.images[0].snapshots = {{"first", 0}, {"second", 1}, {"third", 1}};
    const ScratchDirectory directory;
    EXPECT_EQ(map_of(c, directory), "ddd.");
    // Header, refcount table and block, 4 L1 tables, 2 L2 tables, 3 + 1 clusters, snapshot table.
    EXPECT_EQ(std::filesystem::file_size(directory.path() / "a.qcow2"), 14 * cluster);
    const auto snapshots = qcow2::list_snapshots(directory.string(), "a.qcow2");
    ASSERT_EQ(snapshots.size(), 3U);
    EXPECT_EQ(snapshots[1].id, "2");
    EXPECT_EQ(snapshots[1].name, "second");
    EXPECT_EQ(snapshots[2].seconds, snapshots[0].seconds + 2);
    EXPECT_THROW(qcow2::open_snapshot(directory.string(), "a.qcow2", "4"), ImageError);
    // qemu-img goes back, takes one more and deletes them without a complaint.
    for (const char* name : {"third", "first", "second"}) {
        must_run(directory, {"qemu-img", "snapshot", "-a", name, "a.qcow2"});
        must_run(directory,
                 {"qemu-img", "snapshot", "-c", std::string("after ") + name, "a.qcow2"});
        must_run(directory, {"qemu-img", "snapshot", "-d", name, "a.qcow2"});
        EXPECT_EQ(test::complaint_of_check(directory, "a.qcow2"), "");
    }
}

TEST(Qcow2Features, SnapshotsOfQemuImgAreRead) {
    const ScratchDirectory directory;
    must_run(directory, {"qemu-img", "create", "-f", "qcow2", "a.qcow2", "1M"});
    must_run(directory, {"qemu-io", "-f", "qcow2", "-c", "write -q -P 1 0 128k", "a.qcow2"});
    must_run(directory, {"qemu-img", "snapshot", "-c", "before", "a.qcow2"});
    const VirtualContent before = test::content_of(directory, "a.qcow2", "qcow2");
    must_run(directory, {"qemu-io", "-f", "qcow2", "-c", "write -q -P 2 0 64k", "a.qcow2"});
    must_run(directory, {"qemu-img", "resize", "a.qcow2", "2M"});
    const auto snapshots = qcow2::list_snapshots(directory.string(), "a.qcow2");
    ASSERT_EQ(snapshots.size(), 1U);
    EXPECT_EQ(snapshots[0].name, "before");
    EXPECT_EQ(snapshots[0].size, 1U << 20);
    EXPECT_EQ(summarise(*qcow2::open_snapshot(directory.string(), "a.qcow2", "1")), before);
    EXPECT_NE(test::content_of(directory, "a.qcow2", "qcow2"), before);
}

TEST(Qcow2Features, BitmapsOfQemuImgAreRead) {
    const ScratchDirectory directory;
    must_run(directory, {"qemu-img", "create", "-f", "qcow2", "a.qcow2", "1M"});
    EXPECT_TRUE(qcow2::list_bitmaps(directory.string(), "a.qcow2").empty());
    must_run(directory, {"qemu-img", "bitmap", "--add", "-g", "4096", "a.qcow2", "on"});
    must_run(directory, {"qemu-img", "bitmap", "--add", "--disable", "a.qcow2", "off"});
    must_run(directory, {"qemu-io", "-f", "qcow2", "-c", "write -q 5000 10000", "a.qcow2"});
    const auto bitmaps = qcow2::list_bitmaps(directory.string(), "a.qcow2");
    ASSERT_EQ(bitmaps.size(), 2U);
    EXPECT_EQ(bitmaps[0].name, "on");
    EXPECT_EQ(bitmaps[0].granularity, 4096U);
    EXPECT_TRUE(bitmaps[0].enabled);
    EXPECT_EQ(bitmaps[0].dirty, (std::vector<ByteRange>{{4096, 12288}}));
    EXPECT_FALSE(bitmaps[1].enabled);
    EXPECT_TRUE(bitmaps[1].dirty.empty());
}

TEST(Qcow2Features, ARawDataFileIsTheDisk) {
    const std::vector<ContentWrite> content{{WriteKind::write, 0, 3 * cluster, RandomFill{1}},
                                            {WriteKind::zero, cluster, cluster, {}}};
    for (const bool raw : {false, true}) {
        const Case c = one_image(content, {{"data_file", WordValue{"a.data"}},
                                           {"data_file_raw", WordValue{raw ? "on" : "off"}}});
        const ScratchDirectory directory;
        test::build_in_process(c, directory);
        const VirtualContent model = summarise(*model_of(c, "a"));
        EXPECT_EQ(test::content_of(directory, "a.qcow2", "qcow2"), model);
        EXPECT_EQ(test::content_of(directory, "a.data", "raw") == model, raw);
        EXPECT_EQ(std::filesystem::file_size(directory.path() / "a.data"), 4 * cluster);
        std::filesystem::remove(directory.path() / "a.data");
        EXPECT_THROW(test::content_of(directory, "a.qcow2", "qcow2"), ImageError);
    }
}

// Puts integers into an image with a snapshot and a bitmap; the lists must refuse what is broken.
class DamagedTables : public testing::Test {
protected:
    void SetUp() override {
        Case c = one_image({{WriteKind::write, 0, 512, ByteFill{1}}});
        c.images[0].snapshots = {{"s", 0}};
        c.images[0].bitmaps = {{"b", 512, true, {{0, 512}}}};
        test::build_in_process(c, directory_);
        bytes_ = test::read_file(directory_.path() / "a.qcow2");
        snapshot_ = load_be<std::uint64_t>(at(qcow2::at_snapshots_offset));
        // Table, bits and directory of the bitmap end the file.
        table_ = bytes_.size() - 3 * cluster;
        directory_at_ = bytes_.size() - cluster;
    }
    std::byte* at(std::uint64_t offset) {
        return reinterpret_cast<std::byte*>(bytes_.data() + offset);
    }
    template <typename T>
    void write(std::uint64_t offset, T value) {
        const std::string intact = bytes_;
        store_be(at(offset), value);
        std::ofstream(directory_.path() / "a.qcow2", std::ios::binary | std::ios::trunc) << bytes_;
        bytes_ = intact;
    }
    std::vector<qcow2::Snapshot> snapshots() const {
        return qcow2::list_snapshots(directory_.string(), "a.qcow2");
    }
    std::vector<qcow2::Bitmap> bitmaps() const {
        return qcow2::list_bitmaps(directory_.string(), "a.qcow2");
    }

    ScratchDirectory directory_;
    std::string bytes_;
    std::uint64_t snapshot_ = 0;
    std::uint64_t table_ = 0;
    std::uint64_t directory_at_ = 0;
};

TEST_F(DamagedTables, BrokenSnapshotTablesAreRefused) {
    EXPECT_EQ(snapshots().size(), 1U);
    write(qcow2::at_snapshots, std::uint32_t{0xffffffff});
    EXPECT_THROW(snapshots(), ImageError);
    write(qcow2::at_snapshots, std::uint32_t{65536});
    EXPECT_THROW(snapshots(), ImageError);
    write(qcow2::at_snapshots_offset, snapshot_ + 8);
    EXPECT_THROW(snapshots(), ImageError);
    write(qcow2::at_snapshots_offset, ~std::uint64_t{0} << 16U);
    EXPECT_THROW(snapshots(), ImageError);
    write(snapshot_ + 36, std::uint32_t{0xffffffff});
    EXPECT_THROW(snapshots(), ImageError);
    // The L1 table is looked at only when the snapshot is opened.
    write(snapshot_, std::uint64_t{1} << 50U);
    EXPECT_EQ(snapshots().size(), 1U);
    EXPECT_THROW(qcow2::open_snapshot(directory_.string(), "a.qcow2", "1"), ImageError);
    write(snapshot_ + 8, std::uint32_t{0});
    EXPECT_THROW(qcow2::open_snapshot(directory_.string(), "a.qcow2", "1"), ImageError);
    // Without extra data it is as large as the image.
    write(snapshot_ + 36, std::uint32_t{0});
    EXPECT_EQ(snapshots()[0].size, 4 * cluster);
}

TEST_F(DamagedTables, BrokenBitmapsAreRefused) {
    ASSERT_EQ(bitmaps().size(), 1U);
    EXPECT_EQ(bitmaps()[0].dirty, (std::vector<ByteRange>{{0, 512}}));
    write(qcow2::at_autoclear, std::uint64_t{0});
    EXPECT_TRUE(bitmaps().empty());
    write(directory_at_, table_ + 512);
    EXPECT_THROW(bitmaps(), ImageError);
    write(directory_at_ + 8, std::uint32_t{0xffffffff});
    EXPECT_THROW(bitmaps(), ImageError);
    write(directory_at_ + 12, std::uint32_t{4});
    EXPECT_THROW(bitmaps(), ImageError);
    write(directory_at_ + 17, std::uint8_t{8});
    EXPECT_THROW(bitmaps(), ImageError);
    write(directory_at_ + 18, std::uint16_t{1023});
    EXPECT_THROW(bitmaps(), ImageError);
    write(directory_at_ + 20, std::uint32_t{0xfffffff0});
    EXPECT_THROW(bitmaps(), ImageError);
    write(table_, std::uint64_t{512});
    EXPECT_THROW(bitmaps(), ImageError);
    write(table_, std::uint64_t{1} << 50U);
    EXPECT_THROW(bitmaps(), ImageError);
    write(qcow2::at_size, ~std::uint64_t{0});
    EXPECT_THROW(bitmaps(), ImageError);
    write(table_, std::uint64_t{1});
    EXPECT_EQ(bitmaps()[0].dirty, (std::vector<ByteRange>{{0, 4 * cluster}}));
    write(directory_at_ + 12, std::uint32_t{3});
    EXPECT_TRUE(bitmaps()[0].in_use);
    EXPECT_TRUE(bitmaps()[0].dirty.empty());
}

}  // namespace
}  // namespace difffuzz

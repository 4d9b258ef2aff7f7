#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "images/bytes.hpp"
#include "images/image_error.hpp"
#include "images/qcow2_bitmaps.hpp"
#include "images/qcow2_layout.hpp"
#include "images/qcow2_snapshots.hpp"
#include "tests/images/image_support.hpp"
#include "tests/images/random_images.hpp"

namespace difffuzz {
namespace {

using test::recipe_of;
using test::ScratchDirectory;

void must_run(const ScratchDirectory& directory, const std::vector<std::string>& argv) {
    const Outcome outcome = test::run_tool(directory.path(), argv);
    ASSERT_EQ(outcome.ending, Ending{Exited{0}})
        << testing::PrintToString(argv) << outcome.out.head << outcome.err.head;
}

// Writes with qemu-io: data, zeros, data over zeros, all over the first MiBs.
std::vector<std::string> some_writes(const std::string& name, bool compressed) {
    std::vector<std::string> argv{"qemu-io", "-f", "qcow2"};
    const auto command = [&](std::string text) {
        argv.push_back("-c");
        argv.push_back(std::move(text));
    };
    command(compressed ? "write -q -c -P 3 2M 2M" : "write -q -P 3 2M 2M");
    command("write -q -P 1 0 100k");
    command("write -q -z 40k 30000");
    command("write -q -z -u 64k 128k");
    command("write -q -P 2 130k 1k");
    command("discard -q 90k 8k");
    argv.push_back(name);
    return argv;
}

TEST(Qcow2Reader, ReadsWhatQemuImgMakes) {
    for (const char* options :
         {"compat=0.10", "compat=1.1", "compat=0.10,cluster_size=512",
          "extended_l2=on,cluster_size=16k", "extended_l2=on,cluster_size=64k",
          "extended_l2=on,cluster_size=2M", "compression_type=zstd", "refcount_bits=1",
          "refcount_bits=64,cluster_size=4k", "cluster_size=2M", "preallocation=metadata",
          "preallocation=full,cluster_size=8k", "extended_l2=on,compression_type=zstd"}) {
        const bool preallocated = std::string(options).find("preallocation") == 0;
        for (const bool compressed : {false, true}) {
            if (preallocated && compressed) {
                continue;  // qemu-img does not compress into allocated clusters
            }
            const ScratchDirectory directory;
            must_run(directory, {"qemu-img", "create", "-f", "raw", "b.raw", "3M"});
            must_run(directory, {"qemu-io", "-f", "raw", "-c", "write -q -P 9 0 3M", "b.raw"});
            std::vector<std::string> create{"qemu-img", "create", "-f", "qcow2", "-o", options};
            if (!preallocated) {
                create.insert(create.end(), {"-b", "b.raw", "-F", "raw"});
            }
            create.insert(create.end(), {"a.qcow2", "5M"});
            must_run(directory, create);
            must_run(directory, some_writes("a.qcow2", compressed));
            const VirtualContent ours = test::content_of(directory, "a.qcow2", "qcow2");
            EXPECT_FALSE(ours.sectors.empty());
            EXPECT_EQ(ours, test::content_by_qemu(directory, "a.qcow2", "qcow2"))
                << options << " compressed " << compressed;
        }
    }
}

// An image of 64 KiB clusters with two data clusters, to be damaged.
class DamagedQcow2 : public testing::Test {
protected:
    void SetUp() override {
        Case c;
        c.images.push_back(recipe_of("a", "qcow2", 1 << 20,
                                     {{WriteKind::write, 0, 131072, ByteFill{7}},
                                      {WriteKind::compressed, 131072, 65536, ByteFill{8}}}));
        test::build_in_process(c, directory_);
        bytes_ = test::read_file(path());
        l1_ = get(qcow2::at_l1_offset);
        l2_ = get(l1_) & qcow2::offset_mask;
        data_ = get(l2_) & qcow2::offset_mask;
    }

    std::filesystem::path path() const { return directory_.path() / "a.qcow2"; }
    std::uint64_t get(std::uint64_t at) const {
        return load_be<std::uint64_t>(reinterpret_cast<const std::byte*>(bytes_.data() + at));
    }
    template <typename T>
    void put(std::uint64_t at, T value) {
        std::string copy = bytes_;
        store_be(reinterpret_cast<std::byte*>(copy.data() + at), value);
        write(copy);
    }
    void write(const std::string& bytes) const {
        std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
    }
    VirtualContent ours() const { return test::content_of(directory_, "a.qcow2", "qcow2"); }
    void expect_as_qemu(const char* what) const {
        EXPECT_EQ(ours(), test::content_by_qemu(directory_, "a.qcow2", "qcow2")) << what;
    }
    void expect_both_refuse(const char* what) const {
        EXPECT_THROW(ours(), ImageError) << what;
        EXPECT_THROW(test::content_by_qemu(directory_, "a.qcow2", "qcow2"), std::runtime_error)
            << what;
    }

    ScratchDirectory directory_;
    std::string bytes_;
    std::uint64_t l1_ = 0;
    std::uint64_t l2_ = 0;
    std::uint64_t data_ = 0;
};

TEST_F(DamagedQcow2, ReadsAsQemuImgDoes) {
    expect_as_qemu("intact");
    put(l2_, qcow2::copied_flag | std::uint64_t{1} << 40U);
    expect_as_qemu("data far past the end");
    write(bytes_.substr(0, data_ + 70'000));
    put(l2_ + 16, std::uint64_t{0});
    expect_as_qemu("no compressed cluster");
    put(qcow2::at_size, std::uint64_t{1'000'001});
    expect_as_qemu("odd size");
    put(l2_, get(l2_) | std::uint64_t{1} << 61U);
    expect_as_qemu("reserved bits");
    put(l2_, get(l2_) | 1U);
    expect_as_qemu("zero flag over data");
    put(qcow2::at_incompatible, std::uint64_t{1});
    expect_as_qemu("dirty");
}

TEST_F(DamagedQcow2, RefusesWhatQemuImgRefuses) {
    put(l2_, (qcow2::copied_flag | data_) + 512);
    expect_both_refuse("unaligned data");
    put(l1_, (qcow2::copied_flag | l2_) + 512);
    expect_both_refuse("unaligned L2 table");
    put(l2_ + 16, get(l2_ + 16) + 1);
    expect_both_refuse("shifted compressed data");
    put(qcow2::at_l1_offset, l1_ + 512);
    expect_both_refuse("unaligned L1 table");
    put(qcow2::at_size, std::uint64_t{1} << 50U);
    expect_both_refuse("too small an L1 table");
    put(qcow2::at_size, ~std::uint64_t{0});
    expect_both_refuse("endless");
    put(qcow2::at_l1_entries, std::uint32_t{0x7fffffff});
    expect_both_refuse("endless L1 table");
    put(qcow2::at_version, std::uint32_t{4});
    expect_both_refuse("version 4");
    put(qcow2::at_cluster_bits, std::uint32_t{8});
    expect_both_refuse("small clusters");
    put(qcow2::at_cluster_bits, std::uint32_t{22});
    expect_both_refuse("large clusters");
    put(qcow2::at_header_length, std::uint32_t{96});
    expect_both_refuse("short header");
    put(qcow2::at_incompatible, std::uint64_t{1} << 40U);
    expect_both_refuse("unknown feature");
    put(qcow2::at_encryption, std::uint32_t{1});
    expect_both_refuse("encrypted by the older method");
    put(qcow2::at_encryption, std::uint32_t{2});
    expect_both_refuse("encrypted, without a header to open");
    put(qcow2::at_compression_type, std::uint8_t{1});
    expect_both_refuse("compression type without its feature bit");
    put(0, std::uint32_t{0});
    expect_both_refuse("no magic");
}

TEST_F(DamagedQcow2, TablesPastTheEndAreAnError) {
    put(l1_, qcow2::copied_flag | std::uint64_t{1} << 40U);
    EXPECT_THROW(ours(), ImageError);
    put(qcow2::at_l1_offset, std::uint64_t{1} << 40U);
    EXPECT_THROW(ours(), ImageError);
    put(qcow2::at_incompatible, qcow2::incompatible_data_file);
    EXPECT_THROW(ours(), ImageError);
}

// Every L1 entry leads to one table, every entry of that to one cluster: 32 GiB of "data".
TEST_F(DamagedQcow2, OneClusterOverAndOverIsRefusedSoon) {
    constexpr std::uint64_t tables = 64;  // each 512 MiB
    for (const bool zero : {false, true}) {
        std::string image = bytes_;
        auto* const at = reinterpret_cast<std::byte*>(image.data());
        store_be(at + qcow2::at_size, tables << 29U);
        store_be(at + qcow2::at_l1_entries, static_cast<std::uint32_t>(tables));
        for (std::uint64_t i = 0; i < tables; ++i) {
            store_be(at + l1_ + i * 8, qcow2::copied_flag | l2_);
        }
        for (std::uint64_t i = 0; i < 8192; ++i) {
            store_be(at + l2_ + i * 8,
                     qcow2::copied_flag | data_ | (zero && i != 0 ? std::uint64_t{1} : 0));
        }
        write(image);
        if (zero) {
            EXPECT_EQ(ours().sectors.size(), tables * 128);
        } else {
            EXPECT_THROW(ours(), ImageError);
        }
    }
}

struct Counts {
    int read = 0;
    int refused = 0;

    template <typename F>
    void count(F&& reads) {
        try {
            reads();
            ++read;
        } catch (const ImageError&) {
            ++refused;
        }
    }
};

TEST(Qcow2Hostile, FlippedBytesGiveAnErrorOrData) {
    Counts content;
    Counts snapshots;
    Counts bitmaps;
    test::check_many("flipped bytes", 1500, [&] {
        const Case c = test::draw_chain(8 << 20);
        const ScratchDirectory directory;
        test::build_in_process(c, directory);
        const auto path = directory.path() / "top.qcow2";
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        const std::uint64_t size = std::filesystem::file_size(path);
        for (std::uint64_t i = 0; i < test::draw(1, 6); ++i) {
            const std::uint64_t region = test::one_of<std::uint64_t>({112, 512, size});
            file.seekp(static_cast<std::streamoff>(test::draw(0, std::min(region, size) - 1)));
            file.put(static_cast<char>(test::draw(0, 255)));
        }
        file.close();
        if (test::chance(20)) {
            std::filesystem::resize_file(path, test::draw(0, size));
        }
        const std::string dir = directory.string();
        find_format("qcow2")->references(dir, "top.qcow2");
        content.count([&] { test::content_of(directory, "top.qcow2", "qcow2"); });
        if (!c.images.back().snapshots.empty()) {
            snapshots.count([&] {
                for (const auto& snapshot : qcow2::list_snapshots(dir, "top.qcow2")) {
                    summarise(*qcow2::open_snapshot(dir, "top.qcow2", snapshot.id));
                }
            });
        }
        if (!c.images.back().bitmaps.empty()) {
            bitmaps.count([&] { qcow2::list_bitmaps(dir, "top.qcow2"); });
        }
    });
    for (const Counts* counts : {&content, &snapshots, &bitmaps}) {
        EXPECT_GT(counts->refused, 20);
        EXPECT_GT(counts->read, 20);
    }
}

TEST(Qcow2Chain, LoopsAndNamesElsewhereAreRefused) {
    const ScratchDirectory directory;
    const std::string dir = directory.string();
    const auto create = [&](const std::string& backing, const std::string& format,
                            const std::string& name) {
        must_run(directory, {"qemu-img", "create", "-u", "-f", "qcow2", "-b", backing, "-F", format,
                             name, "1M"});
    };
    const Format* qcow2 = find_format("qcow2");
    create("loop.qcow2", "qcow2", "other.qcow2");
    std::filesystem::rename(directory.path() / "other.qcow2", directory.path() / "loop.qcow2");
    EXPECT_THROW(qcow2->open(dir, "loop.qcow2"), ImageError);
    std::ofstream(directory.path() / "b.raw") << "secret";
    create(dir + "/b.raw", "raw", "absolute.qcow2");
    EXPECT_THROW(qcow2->open(dir, "absolute.qcow2"), ImageError);
    create("json:{\\\"driver\\\":\\\"null-co\\\"}", "raw", "json.qcow2");
    EXPECT_THROW(qcow2->open(dir, "json.qcow2"), ImageError);
    create("b.raw", "vmdk", "other.qcow2");
    EXPECT_THROW(qcow2->open(dir, "other.qcow2"), ImageError);
    create("b.raw", "raw", "fine.qcow2");
    EXPECT_EQ(summarise(*qcow2->open(dir, "fine.qcow2")).sectors.size(), 1U);

    ASSERT_EQ(qcow2->references(dir, "absolute.qcow2").size(), 1U);
    EXPECT_EQ(qcow2->references(dir, "absolute.qcow2")[0].name, dir + "/b.raw");
    EXPECT_EQ(qcow2->references(dir, "absolute.qcow2")[0].kind, "backing");
    must_run(directory,
             {"qemu-img", "create", "-f", "qcow2", "-o", "data_file=out.bin", "data.qcow2", "1M"});
    ASSERT_EQ(qcow2->references(dir, "data.qcow2").size(), 1U);
    EXPECT_EQ(qcow2->references(dir, "data.qcow2")[0].name, "out.bin");
    EXPECT_EQ(qcow2->references(dir, "data.qcow2")[0].kind, "data-file");
    EXPECT_TRUE(summarise(*qcow2->open(dir, "data.qcow2")).sectors.empty());
    std::filesystem::remove(directory.path() / "out.bin");
    EXPECT_THROW(qcow2->open(dir, "data.qcow2"), ImageError);
    EXPECT_TRUE(qcow2->references(dir, "b.raw").empty());
    EXPECT_TRUE(qcow2->references(dir, "absent").empty());
}

}  // namespace
}  // namespace difffuzz

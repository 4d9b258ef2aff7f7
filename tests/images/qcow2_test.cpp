#include <gtest/gtest.h>

#include "tests/images/qcow2_properties.hpp"

namespace difffuzz {
namespace {

using test::recipe_of;
using test::ScratchDirectory;

TEST(Qcow2, BuildsTheSameTwiceAndReadsBackEqual) {
    test::check_many("qcow2 without tools", 300, test::check_qcow2_without_tools);
}

TEST(Qcow2, IsCleanAndReadsBackEqualByQemuImg) {
    test::check_many("qcow2 by qemu-img", 60, test::check_qcow2_by_qemu);
}

Case one_image(std::uint64_t size, std::vector<ContentWrite> content,
               std::vector<FormatOption> options = {}) {
    Case c;
    c.images.push_back(recipe_of("a", "qcow2", size, std::move(content), std::move(options)));
    return c;
}

std::string map_by_qemu(const Case& c, const std::string& name) {
    const ScratchDirectory directory;
    test::build_in_process(c, directory);
    EXPECT_EQ(test::complaint_of_check(directory, name), "");
    return test::run_tool(directory.path(),
                          {"qemu-img", "map", "--output=json", "-f", "qcow2", name})
        .out.head;
}

TEST(Qcow2, WritesMakeTheKindOfClusterTheyName) {
    const std::string map =
        map_by_qemu(one_image(4 * 65536, {{WriteKind::write, 0, 65536, ByteFill{1}},
                                          {WriteKind::write, 65536, 65536, ByteFill{1}},
                                          {WriteKind::zero, 65536, 2 * 65536, {}},
                                          {WriteKind::compressed, 3 * 65536, 65536, ByteFill{2}}}),
                    "a.qcow2");
    // Allocated; zero but allocated; zero; compressed (data without an offset).
    EXPECT_NE(
        map.find("\"start\": 0, \"length\": 65536, \"depth\": 0, \"present\": true, \"zero\": "
                 "false, \"data\": true, \"offset\": 327680"),
        std::string::npos)
        << map;
    EXPECT_NE(map.find("\"start\": 65536, \"length\": 65536, \"depth\": 0, \"present\": true, "
                       "\"zero\": true, \"data\": false, \"offset\": 393216"),
              std::string::npos)
        << map;
    EXPECT_NE(map.find("\"start\": 131072, \"length\": 65536, \"depth\": 0, \"present\": true, "
                       "\"zero\": true, \"data\": false}"),
              std::string::npos)
        << map;
    EXPECT_NE(map.find("\"start\": 196608, \"length\": 65536, \"depth\": 0, \"present\": true, "
                       "\"zero\": false, \"data\": true}"),
              std::string::npos)
        << map;
}

TEST(Qcow2, IncompressibleClustersStayPlain) {
    const std::string map = map_by_qemu(
        one_image(65536, {{WriteKind::compressed, 0, 65536, RandomFill{1}}}), "a.qcow2");
    EXPECT_NE(map.find("\"data\": true, \"offset\": "), std::string::npos) << map;
}

TEST(Qcow2, OptionsAndBackingFileAreInTheHeader) {
    Case c = one_image(1 << 20, {},
                       {{"cluster_size", suffixed_size(4096)},
                        {"lazy_refcounts", WordValue{"on"}},
                        {"compression_type", WordValue{"zstd"}}});
    c.images.insert(c.images.begin(), recipe_of("base", "raw", 1 << 20));
    c.images[1].backing = "base";
    const ScratchDirectory directory;
    test::build_in_process(c, directory);
    const std::string info =
        test::run_tool(directory.path(), {"qemu-img", "info", "-f", "qcow2", "a.qcow2"}).out.head;
    for (const char* line :
         {"cluster_size: 4096\n", "backing file: base.raw", "backing file format: raw\n",
          "compat: 1.1\n", "compression type: zstd\n", "lazy refcounts: true\n",
          "refcount bits: 16\n", "extended l2: false\n", "corrupt: false\n"}) {
        EXPECT_NE(info.find(line), std::string::npos) << line << info;
    }
}

TEST(Qcow2, LargeTablesAreSoundAndSparse) {
    for (const std::uint64_t cluster : {512U, 65536U, 2097152U}) {
        Case c = one_image(std::uint64_t{5} << 30,
                           {{WriteKind::write, (std::uint64_t{5} << 30) - 1, 1, ByteFill{1}},
                            {WriteKind::write, 12345, 3 << 20, RandomFill{1}}},
                           {{"cluster_size", plain_size(cluster)}});
        const ScratchDirectory directory;
        test::build_in_process(c, directory);
        EXPECT_EQ(test::complaint_of_check(directory, "a.qcow2"), "");
        EXPECT_EQ(test::content_of(directory, "a.qcow2", "qcow2"), summarise(*model_of(c, "a")));
        EXPECT_EQ(test::content_by_qemu(directory, "a.qcow2", "qcow2"),
                  summarise(*model_of(c, "a")));
    }
}

}  // namespace
}  // namespace difffuzz

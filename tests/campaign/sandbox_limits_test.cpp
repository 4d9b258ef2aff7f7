#include <algorithm>
#include <cerrno>
#include <gmock/gmock.h>

#include "tests/support/sandbox_fixture.hpp"

namespace difffuzz::test {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

class SandboxLimits : public SandboxTest {};
DIFFFUZZ_AS_ROOT_AND_USER(SandboxLimits);

TEST_P(SandboxLimits, FloodOfOutput) {
    const auto answer = run({"flood", std::to_string(gibibyte)}, {{"stream_bytes", mebibyte}});
    EXPECT_EQ(ending(answer), limited("output"));
    EXPECT_EQ(answer["out"]["kept"], mebibyte);
    EXPECT_GT(answer["out"]["observed"], 64 * mebibyte);
    EXPECT_LT(answer["out"]["observed"], 128 * mebibyte);
}

TEST_P(SandboxLimits, LongOutputWithinTheLimitIsCutButCounted) {
    const auto answer = run({"flood", std::to_string(4 * mebibyte)}, {{"stream_bytes", 1000}});
    EXPECT_EQ(ending(answer), exited(0));
    EXPECT_EQ(answer["out"]["observed"], 4 * mebibyte);
    EXPECT_EQ(answer["out"]["kept"], 1000);
}

TEST_P(SandboxLimits, HugeSparseFile) {
    EXPECT_EQ(ending(run({"sparse", std::to_string(100 * gibibyte)})), limited("file_size"));
    EXPECT_EQ(ending(run({"sparse", std::to_string(gibibyte)})), exited(0));
}

TEST_P(SandboxLimits, HugeSparseFileOfAToolThatHandlesTheSignalIsItsOwnRefusal) {
    EXPECT_EQ(ending(run({"sparse-handled", std::to_string(100 * gibibyte)})), exited(EFBIG));
}

TEST_P(SandboxLimits, FullDisk) {
    EXPECT_EQ(ending(run({"real", std::to_string(gibibyte)})), limited("disk"));
    EXPECT_EQ(client().ask({{"do", "used"}})["used"], disk_bytes);
    EXPECT_EQ(client().ask({{"do", "used"}, {"side", 1}})["used"], 0);
    EXPECT_EQ(client().ask({{"do", "reset"}})["used"], 0);
    EXPECT_EQ(ending(run({"real", std::to_string(mebibyte)})), exited(0));
}

TEST_P(SandboxLimits, MemoryOfOneProcessAndOfAChild) {
    for (const char* mode : {"memory", "memory-child"}) {
        const auto answer =
            run({mode, std::to_string(64 * gibibyte)}, {{"memory_bytes", 128 * mebibyte}});
        EXPECT_EQ(ending(answer), limited("memory")) << mode;
        EXPECT_LT(answer["memory"], 8 * gibibyte) << mode;
        EXPECT_GT(answer["memory"], 128 * mebibyte) << mode;
    }
    EXPECT_EQ(
        ending(run({"memory", std::to_string(64 * mebibyte)}, {{"memory_bytes", 256 * mebibyte}})),
        exited(0));
}

TEST_P(SandboxLimits, SharedMemoryThatNoProcessHolds) {
    EXPECT_EQ(ending(run({"shared-memory", std::to_string(32 * mebibyte)})), exited(0));
    const std::string segments = run({"read", "/proc/sysvipc/shm"})["out"]["head"];
    EXPECT_EQ(std::count(segments.begin(), segments.end(), '\n'), 1) << segments;
    EXPECT_EQ(ending(run({"shared-memory", std::to_string(8 * gibibyte)},
                         {{"memory_bytes", 128 * mebibyte}})),
              limited("memory"));
    EXPECT_EQ(ending(run({"exit", "0"})), exited(0));
}

TEST_P(SandboxLimits, ForkBomb) {
    EXPECT_EQ(ending(run({"fork-bomb"})), limited("processes"));
    EXPECT_EQ(ending(run({"exit", "0"})), exited(0));
    EXPECT_EQ(processes_in_namespace(pid_namespace_of(client().worker())), 1);
}

TEST_P(SandboxLimits, ManyDaemons) {
    EXPECT_EQ(ending(run({"daemon", "20"}, {{"processes", 10}})), limited("processes"));
    EXPECT_EQ(ending(run({"daemon", "5"}, {{"processes", 10}})), exited(0));
}

TEST_P(SandboxLimits, ResetUndoesWhatAToolLeft) {
    EXPECT_EQ(ending(run({"undeletable", "10"})), exited(EACCES));
    EXPECT_EQ(client().ask({{"do", "reset"}})["used"], 0);
    EXPECT_EQ(ending(run({"undeletable", "300"})), exited(EACCES));
    EXPECT_EQ(client().ask({{"do", "reset"}})["used"], 0);
    EXPECT_EQ(ending(run({"files", "6000"})), exited(0));
    EXPECT_EQ(client().ask({{"do", "reset"}})["used"], 0);
    EXPECT_EQ(ending(run({"write", "/side/0/w/x"})), exited(0));
    // A file system that was replaced is not kept below the new one.
    const std::string mounts = run({"read", "/proc/self/mounts"})["out"]["head"];
    EXPECT_EQ(mounts.find(" /side/0 "), mounts.rfind(" /side/0 ")) << mounts;
    EXPECT_NE(mounts.find(" /side/0 "), std::string::npos) << mounts;
}

TEST_P(SandboxLimits, ADirectoryThatAToolRemovedComesBackWritable) {
    // Root owns the side's root; there only an ordinary user's tool can, when it is let.
    const auto answer = run({"rmdir", "/side/0/w"}, {{"writable", {"/side/0"}}});
    EXPECT_EQ(ending(answer), exited(as_root() ? EACCES : 0));
    EXPECT_EQ(client().ask({{"do", "reset"}})["used"], 0);
    EXPECT_EQ(ending(run({"write", "/side/0/w/x"})), exited(0));
    EXPECT_EQ(ending(run({"rmdir", "/side/0/w"})), exited(EACCES));
}

}  // namespace
}  // namespace difffuzz::test

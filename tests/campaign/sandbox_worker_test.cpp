#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <thread>

#include "tests/support/sandbox_fixture.hpp"

namespace difffuzz::test {
namespace {

class SandboxWorker : public SandboxTest {};
DIFFFUZZ_AS_ROOT_AND_USER(SandboxWorker);

// The bound only keeps a failure from hanging.
bool empties(ino_t pid_namespace) {
    for (int i = 0; i < 3000; ++i) {
        if (processes_in_namespace(pid_namespace) == 0) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

TEST_P(SandboxWorker, KillingTheCoordinatorLeavesNoProcess) {
    client();
    const auto worlds = pid_namespace_of(client().worker());
    ASSERT_NE(worlds, 0);
    ASSERT_NE(worlds, pid_namespace_of(::getpid()));
    std::thread asking([this] { EXPECT_EQ(run({"hang"}), nullptr); });
    while (processes_in_namespace(worlds) < 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(client().coordinator(), SIGKILL);
    asking.join();
    EXPECT_TRUE(empties(worlds));
}

TEST_P(SandboxWorker, KillingTheWorkerLeavesNoProcess) {
    client();
    const auto worlds = pid_namespace_of(client().worker());
    std::thread asking([this] { EXPECT_EQ(run({"hang"}), nullptr); });
    while (processes_in_namespace(worlds) < 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(client().worker(), SIGKILL);
    asking.join();
    EXPECT_TRUE(empties(worlds));
}

TEST_P(SandboxWorker, EndsWhenItsSocketCloses) {
    client();
    const auto worlds = pid_namespace_of(client().worker());
    client_.reset();
    EXPECT_TRUE(empties(worlds));
}

TEST_P(SandboxWorker, WorkersDoNotSeeEachOther) {
    SandboxClient other(directory_, user());
    other.make({{"tool", directory_.program("misbehave")}});
    EXPECT_NE(pid_namespace_of(other.worker()), pid_namespace_of(client().worker()));
    EXPECT_EQ(ending(run({"write", "/side/0/w/x"})), exited(0));
    EXPECT_EQ(ending(other.run({"read", "/side/0/w/x"})), exited(ENOENT));
}

// Whether the system lets root have a memory group is not ours to say, but where one can be made by
// hand, the worker must have one.
TEST(SandboxWorkerCgroup, IsUsedWhereWritable) {
    const bool first = std::filesystem::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    if (::geteuid() != 0 || !first || ::access("/sys/fs/cgroup/memory/cgroup.procs", W_OK) != 0) {
        GTEST_SKIP() << "no writable memory hierarchy of version 1";
    }
    SharedDirectory directory;
    SandboxClient client(directory, {});
    const auto made = client.make({{"tool", directory.program("misbehave")}});
    EXPECT_EQ(made["containment"]["memory_cgroup"], true);
}

}  // namespace
}  // namespace difffuzz::test

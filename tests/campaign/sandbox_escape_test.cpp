#include <cerrno>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>

#include "tests/support/sandbox_fixture.hpp"

namespace difffuzz::test {
namespace {

using ::testing::HasSubstr;

class SandboxEscape : public SandboxTest {};
DIFFFUZZ_AS_ROOT_AND_USER(SandboxEscape);

TEST_P(SandboxEscape, AllOfTheContainmentIsInForce) {
    client();
    const auto& containment = made_["containment"];
    EXPECT_EQ(containment["pid_namespace"], true);
    EXPECT_EQ(containment["landlock"], true);
    EXPECT_GE(containment["landlock_abi"], 1);
    EXPECT_EQ(containment["no_new_privileges"], true);
    EXPECT_EQ(containment["unprivileged_user"], true);
    const auto status = run({"read", "/proc/self/status"})["out"]["head"];
    for (const char* line :
         {"CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapInh:\t0000000000000000",
          "CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "SigBlk:\t0000000000000000"}) {
        EXPECT_THAT(status, HasSubstr(line));
    }
    EXPECT_THAT(status, HasSubstr(as_root() ? "Uid:\t65534\t65534\t65534\t65534" : "Uid:\t"));
}

TEST_P(SandboxEscape, TheHostsFilesAreNotThere) {
    const auto secret = directory_ / "secret";
    std::ofstream(secret) << "secret";
    EXPECT_EQ(ending(run({"read", secret})), exited(ENOENT));
    EXPECT_EQ(ending(run({"read", "/root/.profile"})), exited(ENOENT));
    EXPECT_EQ(ending(run({"read", "/dev/kmsg"})), exited(ENOENT));
    EXPECT_EQ(ending(run({"read", "/dev/zero/x"})), exited(ENOTDIR));
}

TEST_P(SandboxEscape, NothingOutsideTheWorkspaceCanBeWritten) {
    for (const char* path : {"/x", "/tmp/x", "/usr/x", "/etc/x", "/tool/tool/bin/x", "/side/x",
                             "/tool/tool/bin/misbehave", "/side/0/x", "/side/0/t/x", "/side/1/w/x",
                             "/proc/sys/kernel/core_pattern", "/proc/self/oom_score_adj"}) {
        EXPECT_NE(run({"write", path})["code"], 0) << path;
    }
    EXPECT_EQ(ending(run({"write", "/side/0/w/x"})), exited(0));
    EXPECT_EQ(ending(run({"write", "/side/0/t/x"}, {{"writable", {"/side/0/w", "/side/0/t"}}})),
              exited(0));
    EXPECT_EQ(ending(run({"write", "/dev/null"})), exited(0));
}

// The other side's workspace is a finding's hiding place if it can be read.
TEST_P(SandboxEscape, TheOtherSideCannotBeRead) {
    EXPECT_EQ(ending(run({"write", "/side/1/w/x"}, {{"side", 1}})), exited(0));
    EXPECT_EQ(ending(run({"read", "/side/1/w/x"})), exited(EACCES));
    EXPECT_EQ(ending(run({"read", "/side/1/w/x"}, {{"side", 1}})), exited(0));
}

TEST_P(SandboxEscape, ThereIsNoNetwork) {
    EXPECT_EQ(ending(run({"connect", "127.0.0.1"})), exited(ENETUNREACH));
    EXPECT_EQ(ending(run({"connect", "192.0.2.1"})), exited(ENETUNREACH));
}

TEST_P(SandboxEscape, TheWorkerIsOutOfReach) {
    EXPECT_EQ(ending(run({"ptrace", "1"})), exited(EPERM));
    EXPECT_EQ(ending(run({"read", "/proc/1/environ"})), exited(EACCES));
    EXPECT_EQ(ending(run({"read", "/proc/1/mem"})), exited(EACCES));
    run({"kill", "1", std::to_string(SIGKILL)});
    run({"kill", "1", std::to_string(SIGTERM)});
    EXPECT_EQ(ending(run({"exit", "0"})), exited(0));
}

TEST_P(SandboxEscape, NoUserNamespaceGivesCapabilitiesBack) {
    EXPECT_EQ(ending(run({"unshare"})), exited(ENOSPC));
}

TEST_P(SandboxEscape, FilesOfTheWorkerCanBeWrittenByTools) {
    client();
    EXPECT_EQ(client().ask({{"do", "write"}, {"name", "image"}})["good"], true);
    EXPECT_EQ(ending(run({"write", "/side/0/w/image"})), exited(0));
    EXPECT_EQ(run({"read", "/side/0/w/image"})["out"]["head"], "text");
}

}  // namespace
}  // namespace difffuzz::test

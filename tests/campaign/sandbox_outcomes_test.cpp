#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>

#include "tests/support/sandbox_fixture.hpp"

namespace difffuzz::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SandboxOutcomes : public SandboxTest {};
DIFFFUZZ_AS_ROOT_AND_USER(SandboxOutcomes);

TEST_P(SandboxOutcomes, ExitCodes) {
    for (const int code : {0, 1, 127, 255}) {
        EXPECT_EQ(ending(run({"exit", std::to_string(code)})), exited(code));
    }
}

TEST_P(SandboxOutcomes, DeathsBySignal) {
    EXPECT_EQ(ending(run({"signal", std::to_string(SIGTERM)})), signalled(SIGTERM));
    EXPECT_EQ(ending(run({"signal", std::to_string(SIGKILL)})), signalled(SIGKILL));
    EXPECT_EQ(ending(run({"abort"})), signalled(SIGABRT));
}

TEST_P(SandboxOutcomes, StreamsAreApart) {
    const auto answer = run({"print", "to out", "to err"});
    EXPECT_EQ(ending(answer), exited(0));
    EXPECT_EQ(answer["out"]["head"], "to out");
    EXPECT_EQ(answer["err"]["head"], "to err");
    EXPECT_EQ(answer["out"]["observed"], 6);
}

TEST_P(SandboxOutcomes, EnvironmentAndDescriptorsAreThoseGiven) {
    EXPECT_EQ(run({"environment"})["out"]["head"], "directory=/side/0/w\nLC_ALL=C\n");
    EXPECT_EQ(run({"environment"}, {{"side", 2}})["out"]["head"],
              "directory=/side/2/w\nLC_ALL=C\n");
    EXPECT_EQ(run({"descriptors"})["out"]["head"], "0\n1\n2\n");
    EXPECT_EQ(run({"read", "/dev/stdin"})["out"]["head"], "");
}

TEST_P(SandboxOutcomes, HangThatIgnoresSigtermTimesOut) {
    EXPECT_EQ(ending(run({"hang"}, {{"time_ms", 200}})), (nlohmann::json{{"kind", "timed_out"}}));
    EXPECT_EQ(ending(run({"exit", "0"})), exited(0));
}

TEST_P(SandboxOutcomes, DaemonsThatHoldThePipeAreCountedAndKilled) {
    const auto answer = run({"daemon", "3"});
    EXPECT_EQ(ending(answer), exited(0));
    EXPECT_EQ(answer["left"], 3);
    EXPECT_LT(answer["wall_us"], 30'000'000);
    EXPECT_EQ(run({"exit", "0"})["left"], 0);
    EXPECT_EQ(processes_in_namespace(pid_namespace_of(client().worker())), 1);
}

TEST_P(SandboxOutcomes, WhatACommandTookIsMeasured) {
    // Starting a command takes a few bytes.  The kernel does not tell users about what has ended
    // before they asked.
    constexpr std::uint64_t of_the_start = 64;
    const bool told = GetParam();
    const auto idle = run({"exit", "0"});
    EXPECT_EQ(idle.contains("written") || !told, true);
    EXPECT_LE(idle.value("written", 0), of_the_start);
    // A sanitizer looks for leaks in a task of its own.
    EXPECT_GE(idle["tasks"], 1);
    EXPECT_LE(idle["tasks"], 2);
    EXPECT_GT(idle["memory"], 0);
    constexpr std::uint64_t bytes = std::uint64_t{3} << 20;
    const auto writer = run({"real", std::to_string(bytes)});
    EXPECT_EQ(writer.contains("written") || !told, true);
    if (writer.contains("written")) {
        EXPECT_GE(writer["written"], bytes);
        EXPECT_LE(writer["written"], bytes + of_the_start);
    }
    EXPECT_GE(writer["disk"], bytes);
    const auto parent = run({"daemon", "3"});
    EXPECT_GE(parent["tasks"], 4);
    EXPECT_LE(parent["tasks"], 8);
}

TEST_P(SandboxOutcomes, WhatCannotStart) {
    const auto missing = run({"exit", "0"}, {{"program", "/tool/none"}});
    EXPECT_EQ(ending(missing),
              (nlohmann::json{{"kind", "failed_to_start"}, {"code", ENOENT}, {"what", "exec"}}));
    const auto no_program = run({"exit", "0"}, {{"program", "/etc/passwd"}});
    EXPECT_EQ(no_program["code"], EACCES);
    const auto no_directory = run({"exit", "0"}, {{"directory", "/side/0/none"}});
    EXPECT_EQ(
        ending(no_directory),
        (nlohmann::json{{"kind", "failed_to_start"}, {"code", ENOENT}, {"what", "directory"}}));
    const auto no_writable = run({"exit", "0"}, {{"writable", {"/side/0/none"}}});
    EXPECT_EQ(no_writable["kind"], "failed_to_start");
    EXPECT_THAT(no_writable["what"], HasSubstr("/side/0/none"));
    EXPECT_EQ(ending(run({"exit", "0"})), exited(0));
}

TEST_P(SandboxOutcomes, AProgramBuiltWithAddressSanitizerRuns) {
    SandboxClient other(directory_, user());
    other.make({{"tool", directory_.program("heap_asan")}});
    const auto clean = other.run({"99"});
    EXPECT_EQ(ending(clean), exited(0)) << clean["err"]["head"];
    EXPECT_EQ(clean["err"]["head"], "");
    const auto overflow = other.run({"100"});
    EXPECT_EQ(ending(overflow), exited(1));
    EXPECT_THAT(overflow["err"]["head"], HasSubstr("heap-buffer-overflow"));
}

}  // namespace
}  // namespace difffuzz::test

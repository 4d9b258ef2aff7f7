#include <cerrno>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/elf_image.hpp"
#include "tests/support/sandbox_fixture.hpp"

namespace difffuzz::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using Strings = std::vector<std::string>;

class SandboxTools : public SandboxTest {
protected:
    nlohmann::json make(const std::string& program, SandboxClient::Options options) {
        client_.emplace(directory_, options);
        return client_->make({{"tool", program}});
    }
    nlohmann::json make(const std::string& program) { return make(program, user()); }

    std::string error(const std::string& program) {
        return make(program).value("environment_error", "none");
    }
};
DIFFFUZZ_AS_ROOT_AND_USER(SandboxTools);

TEST_P(SandboxTools, AreFoundWithTheirFiles) {
    const auto program = directory_.program("misbehave");
    const auto made = make(program);
    const auto& tool = made["tools"]["tool"];
    EXPECT_EQ(tool["program"], "/tool/tool/bin/misbehave");
    EXPECT_THAT(tool["files"].get<Strings>(),
                AllOf(Contains(program), Contains(HasSubstr("/ld-linux")),
                      Contains(HasSubstr("/libc.so.6"))));
    EXPECT_EQ(tool["environment"], nlohmann::json::array());
}

TEST_P(SandboxTools, KeepTheNameOfALink) {
    directory_.program("misbehave");
    fs::create_symlink("misbehave", directory_ / "link");
    const auto made = make(directory_ / "link");
    EXPECT_EQ(made["tools"]["tool"]["program"], "/tool/tool/bin/link");
    EXPECT_EQ(ending(client_->run({"exit", "3"})), exited(3));
}

TEST_P(SandboxTools, WorkFromAClosedHome) {
    const auto program = directory_.program("misbehave", "home/misbehave");
    fs::permissions(directory_ / "home", fs::perms(0700));
    if (as_root()) {
        // Root's own, then another user's.
        EXPECT_FALSE(make(program).contains("environment_error"));
        EXPECT_EQ(ending(client_->run({"exit", "3"})), exited(3));
    }
    const auto owner = as_root() ? ordinary_user + 1 : user().uid;
    ASSERT_EQ(::chown((directory_ / "home").c_str(), owner, owner), 0);
    EXPECT_EQ(make(program).value("environment_error", ""), "");
    EXPECT_EQ(ending(client_->run({"exit", "3"})), exited(3));
}

TEST_P(SandboxTools, BringLibrariesThatTheSystemDoesNotHave) {
    const auto program = directory_.program("misbehave");
    std::string library;
    const auto first = make(program);
    for (const auto& file : first["tools"]["tool"]["files"].get<Strings>()) {
        library = file.find("/libstdc++.so.6") != std::string::npos ? file : library;
    }
    ASSERT_NE(library, "");
    fs::create_directory(directory_ / "libraries");
    const auto own = directory_ / "libraries/libstdc++.so.6";
    fs::copy_file(library, own);
    auto options = user();
    options.environment["LD_LIBRARY_PATH"] = directory_ / "libraries";
    const auto made = make(program, options);
    const auto& tool = made["tools"]["tool"];
    EXPECT_EQ(tool["environment"], (Strings{"LD_LIBRARY_PATH=/tool/tool/lib"}));
    EXPECT_THAT(tool["files"].get<Strings>(), Contains(own));
    EXPECT_THAT(client_->run({"read", "/proc/self/maps"})["out"]["head"].get<std::string>(),
                HasSubstr("/tool/tool/lib/libstdc++.so.6"));
}

TEST_P(SandboxTools, OfATreeWithAnIdentityComeWithTheTree) {
    const auto program = directory_.program("misbehave", "tree/bin/misbehave");
    std::ofstream(directory_ / "tree/data") << "in the tree";
    std::ofstream(directory_ / "tree/identity.json")
        << R"({"schema": "difffuzz.tool-identity/1", "files": [{"path": "data", "sha256": "", )"
        << R"("size": 11}]})";
    const auto made = make(program);
    EXPECT_EQ(made["tools"]["tool"]["files"], (Strings{program, directory_ / "tree/data"}));
    EXPECT_EQ(client_->run({"read", "/tool/tool/data"})["out"]["head"], "in the tree");
}

TEST_P(SandboxTools, MayBeScripts) {
    const auto script = directory_ / "script";
    std::ofstream(script) << "#!/bin/sh\nexit 5\n";
    fs::permissions(script, fs::perms(0755));
    EXPECT_THAT(make(script)["tools"]["tool"]["files"].get<Strings>(),
                AllOf(Contains(script), Contains(HasSubstr("/bin/"))));
    EXPECT_EQ(ending(client_->run({})), exited(5));
}

TEST_P(SandboxTools, ThatAreNoProgramFailToStart) {
    const auto broken = directory_ / "broken";
    std::ofstream(broken) << "\x7f"
                             "ELF but no more";
    fs::permissions(broken, fs::perms(0755));
    make(broken);
    EXPECT_EQ(ending(client_->run({})),
              (nlohmann::json{{"kind", "failed_to_start"}, {"code", ENOEXEC}, {"what", "exec"}}));
}

TEST_P(SandboxTools, ThatCannotBeUsedAreNamedWithTheReason) {
    EXPECT_THAT(error("/none/tool"),
                AllOf(HasSubstr("the tool /none/tool"), HasSubstr("No such file or directory")));
    EXPECT_THAT(error("/usr"), HasSubstr("directory"));
    const auto plain = directory_ / "plain";
    std::ofstream(plain) << "text";
    fs::permissions(plain, fs::perms(0644));
    EXPECT_THAT(error(plain), AllOf(HasSubstr(plain), HasSubstr("not executable")));
    const auto script = directory_ / "script";
    std::ofstream(script) << "#!/none/sh\n";
    fs::permissions(script, fs::perms(0755));
    EXPECT_THAT(error(script), AllOf(HasSubstr(script), HasSubstr("/none/sh")));
}

// Else the host's load would count against the limits of the loader that lists the libraries.
TEST_P(SandboxTools, AreResolvedWithoutSeeingTheHostsProcesses) {
    const auto loader = directory_ / "loader";
    std::ofstream(loader) << "#!/bin/sh\necho /proc/[0-9]* end >&2\nexit 1\n";
    const auto program = directory_ / "program";
    std::ofstream(program) << elf_with(PT_INTERP, after_headers, loader);
    fs::permissions(loader, fs::perms(0755));
    fs::permissions(program, fs::perms(0755));
    EXPECT_THAT(error(program), HasSubstr("not to be found: /proc/1 /proc/2 end"));
}

TEST_P(SandboxTools, ThatAUserMayNotReadAreNamedWithTheReason) {
    if (as_root() || ::geteuid() != 0) {
        GTEST_SKIP() << "needs root to make a file that a user may not read";
    }
    const auto program = directory_.program("misbehave", "secret/misbehave");
    fs::permissions(directory_ / "secret", fs::perms(0700));
    EXPECT_THAT(error(program), AllOf(HasSubstr(program), HasSubstr("Permission denied")));
}

}  // namespace
}  // namespace difffuzz::test

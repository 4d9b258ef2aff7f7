// Tests that run once as root and once as an ordinary user.
#pragma once

#include <gtest/gtest.h>
#include <optional>
#include <unistd.h>

#include "tests/support/sandbox_client.hpp"

namespace difffuzz::test {

// No account has it, and none is needed.
constexpr uid_t ordinary_user = 54321;

// Parameter: as root. Makes a sandbox with the stub "misbehave" as its tool "tool".
class SandboxTest : public ::testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        if (as_root() && ::geteuid() != 0) {
            GTEST_SKIP() << "needs root";
        }
    }

    bool as_root() const { return GetParam(); }

    SandboxClient::Options user() const {
        SandboxClient::Options options;
        options.uid = as_root() ? 0 : (::geteuid() == 0 ? ordinary_user : ::geteuid());
        return options;
    }

    // The client with its sandbox made, at first use.
    SandboxClient& client() {
        if (!client_) {
            client_.emplace(directory_, user());
            made_ = client_->make({{"tool", directory_.program("misbehave")}},
                                  {{"disk_bytes", disk_bytes}});
            EXPECT_TRUE(made_.contains("tools")) << made_ << client_->greeting;
        }
        return *client_;
    }

    nlohmann::json run(const std::vector<std::string>& words,
                       nlohmann::json more = nlohmann::json::object()) {
        return client().run(words, std::move(more));
    }

    static constexpr std::uint64_t disk_bytes = std::uint64_t{64} << 20;
    SharedDirectory directory_;
    std::optional<SandboxClient> client_;
    nlohmann::json made_;
};

inline std::string user_name(const ::testing::TestParamInfo<bool>& info) {
    return info.param ? "root" : "user";
}

#define DIFFFUZZ_AS_ROOT_AND_USER(suite) \
    INSTANTIATE_TEST_SUITE_P(As, suite, ::testing::Values(true, false), user_name)

// The members that say how a command ended, for comparison with a literal.
inline nlohmann::json ending(const nlohmann::json& answer) {
    nlohmann::json result = nlohmann::json::object();
    for (const char* name : {"kind", "code", "what", "failure", "environment_error"}) {
        if (answer.contains(name)) {
            result[name] = answer[name];
        }
    }
    return result;
}

inline nlohmann::json exited(int code) { return {{"kind", "exited"}, {"code", code}}; }
inline nlohmann::json signalled(int number) { return {{"kind", "signalled"}, {"code", number}}; }
inline nlohmann::json limited(const char* what) { return {{"kind", "limited"}, {"what", what}}; }

}  // namespace difffuzz::test

// Drives a worker with a sandbox (tests/probes/sandbox_probe.cpp) as difffuzz would.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/types.h>
#include <vector>

namespace difffuzz::test {

// A directory below /tmp that everyone can enter, with copies of the probe and the stubs, so that
// an ordinary user can run what root has built; removed in the end.
class SharedDirectory {
public:
    SharedDirectory();
    ~SharedDirectory();
    SharedDirectory(const SharedDirectory&) = delete;
    SharedDirectory& operator=(const SharedDirectory&) = delete;

    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    // Copies a built program in, executable for all, under another name if given.
    std::string program(const std::string& name, const std::string& as = {}) const;

private:
    std::string path_;
};

// A coordinator process with one worker.
class SandboxClient {
public:
    struct Options {
        uid_t uid = 0;  // who the coordinator runs as; only root can name another than itself
        std::map<std::string, std::string> environment;  // added to the coordinator's
    };

    SandboxClient(const SharedDirectory& directory, const Options& options);
    ~SandboxClient();
    SandboxClient(const SandboxClient&) = delete;
    SandboxClient& operator=(const SandboxClient&) = delete;

    pid_t coordinator() const { return coordinator_; }
    // As seen here; -1 when the worker did not start, see `greeting`.
    pid_t worker() const { return greeting.value("pid", -1); }

    // Sends one request and returns the answer, null when the worker is gone.
    nlohmann::json ask(const nlohmann::json& request);
    // Makes the sandbox; the answer has tools and containment, or environment_error.
    nlohmann::json make(const std::map<std::string, std::string>& tools,
                        nlohmann::json more = nlohmann::json::object());
    // Runs tool "tool" with the words; `more` are members of the request.
    nlohmann::json run(const std::vector<std::string>& words,
                       nlohmann::json more = nlohmann::json::object());

    nlohmann::json greeting;

private:
    nlohmann::json read_line();

    pid_t coordinator_ = -1;
    int socket_ = -1;
    std::string pending_;
};

// Processes in the PID namespace with that inode number.
int processes_in_namespace(ino_t pid_namespace);

// Inode number of a process's PID namespace; 0 when there is no such process.
ino_t pid_namespace_of(pid_t pid);

}  // namespace difffuzz::test

#include "tests/support/sandbox_client.hpp"

#include <cctype>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <grp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace difffuzz::test {

namespace fs = std::filesystem;
using nlohmann::json;

SharedDirectory::SharedDirectory() {
    std::string name = "/tmp/difffuzz-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr || ::chmod(name.c_str(), 0755) != 0) {
        throw std::runtime_error("no directory below /tmp");
    }
    path_ = name;
}

SharedDirectory::~SharedDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string SharedDirectory::program(const std::string& name, const std::string& as) const {
    const auto target = path_ + "/" + (as.empty() ? name : as);
    fs::create_directories(fs::path(target).parent_path());
    fs::copy_file(std::string(DIFFFUZZ_BINARY_DIR) + "/" + name, target,
                  fs::copy_options::skip_existing);
    fs::permissions(target, fs::perms(0755));
    return target;
}

SandboxClient::SandboxClient(const SharedDirectory& directory, const Options& options) {
    const auto probe = directory.program("sandbox_probe");
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        throw std::runtime_error("socketpair");
    }
    coordinator_ = ::fork();
    if (coordinator_ == 0) {
        ::fcntl(ends[1], F_SETFD, 0);
        if (options.uid != ::geteuid() &&
            (::setgroups(0, nullptr) != 0 ||
             ::setresgid(options.uid, options.uid, options.uid) != 0 ||
             ::setresuid(options.uid, options.uid, options.uid) != 0)) {
            ::_exit(126);
        }
        for (const auto& [name, value] : options.environment) {
            ::setenv(name.c_str(), value.c_str(), 1);
        }
        const auto number = std::to_string(ends[1]);
        ::execl(probe.c_str(), probe.c_str(), "coordinate", number.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(ends[1]);
    socket_ = ends[0];
    greeting = read_line();
}

SandboxClient::~SandboxClient() {
    ::close(socket_);
    ::waitpid(coordinator_, nullptr, 0);
}

json SandboxClient::ask(const json& request) {
    const auto line = request.dump() + "\n";
    if (::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size())) {
        return nullptr;
    }
    return read_line();
}

json SandboxClient::make(const std::map<std::string, std::string>& tools, json more) {
    more["do"] = "make";
    more["tools"] = tools;
    return ask(more);
}

json SandboxClient::run(const std::vector<std::string>& words, json more) {
    more["do"] = "run";
    more["arguments"] = words;
    more.emplace("tool", "tool");
    return ask(more);
}

json SandboxClient::read_line() {
    for (;;) {
        if (const auto end = pending_.find('\n'); end != std::string::npos) {
            const auto line = pending_.substr(0, end);
            pending_.erase(0, end + 1);
            return json::parse(line);
        }
        char buffer[65536];
        const auto size = ::read(socket_, buffer, sizeof buffer);
        if (size <= 0) {
            return nullptr;
        }
        pending_.append(buffer, static_cast<std::size_t>(size));
    }
}

ino_t pid_namespace_of(pid_t pid) {
    struct stat status {};
    const auto path = "/proc/" + std::to_string(pid) + "/ns/pid";
    return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

int processes_in_namespace(ino_t pid_namespace) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        if (std::isdigit(static_cast<unsigned char>(name[0])) != 0 &&
            pid_namespace_of(std::stoi(name)) == pid_namespace) {
            ++count;
        }
    }
    return count;
}

}  // namespace difffuzz::test

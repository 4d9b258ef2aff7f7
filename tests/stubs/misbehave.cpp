// A tool that does, by its first argument, what a bad tool does. Exit status 99: it was asked for
// something that it does not know; 98: the system would not let it set the scene.
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <iostream>
#include <map>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Arguments = std::vector<std::string>;

constexpr int no_scene = 98;
constexpr int unknown = 99;

std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

// 0 when the call worked, else its errno, for the tests to look at.
int result(long value) { return value < 0 ? errno : 0; }

int hang() {
    for (;;) {
        ::pause();
    }
}

int flood(std::uint64_t bytes) {
    const std::string block(1 << 16, 'x');
    for (std::uint64_t written = 0; written < bytes; written += block.size()) {
        if (::write(STDOUT_FILENO, block.data(), block.size()) < 0) {
            return errno;
        }
    }
    return 0;
}

// Two forks and a session of its own: what a daemon does. It keeps stdout.
int leave_daemons(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::setsid();
            if (::fork() != 0) {
                ::_exit(0);
            }
            std::signal(SIGTERM, SIG_IGN);
            std::signal(SIGHUP, SIG_IGN);
            hang();
        }
        ::waitpid(child, nullptr, 0);
    }
    return 0;
}

int sparse_file(std::uint64_t bytes) {
    const int file = ::open("sparse", O_WRONLY | O_CREAT, 0644);
    return result(::ftruncate(file, static_cast<off_t>(bytes)));
}

int real_file(std::uint64_t bytes) {
    const int file = ::open("real", O_WRONLY | O_CREAT, 0644);
    const std::string block(1 << 20, 'x');
    for (std::uint64_t written = 0; written < bytes; written += block.size()) {
        if (::write(file, block.data(), block.size()) != static_cast<ssize_t>(block.size())) {
            return 1;
        }
    }
    return 0;
}

int undeletable(std::uint64_t depth) {
    for (std::uint64_t i = 0; i < depth; ++i) {
        if (::mkdir("d", 0755) != 0 || ::chdir("d") != 0) {
            return no_scene;
        }
    }
    return result(::chmod(".", 0)) + result(::chmod("..", 0));
}

int touch_memory(std::uint64_t bytes) {
    constexpr std::uint64_t step = std::uint64_t{16} << 20;
    for (std::uint64_t done = 0; done < bytes; done += step) {
        void* const part = ::mmap(nullptr, step, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (part == MAP_FAILED) {
            return 1;
        }
        std::memset(part, 1, step);
    }
    return 0;
}

// Charged to no process: made, touched, detached and left.
int leave_shared_memory(std::uint64_t bytes) {
    constexpr std::uint64_t step = std::uint64_t{16} << 20;
    for (std::uint64_t done = 0; done < bytes; done += step) {
        const int id = ::shmget(IPC_PRIVATE, step, IPC_CREAT | 0600);
        void* const part = ::shmat(id, nullptr, 0);
        if (reinterpret_cast<std::intptr_t>(part) == -1) {
            return 1;
        }
        std::memset(part, 1, step);
        ::shmdt(part);
    }
    return 0;
}

int fork_bomb() {
    for (;;) {
        ::fork();
    }
}

int sleeping_children(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const pid_t child = ::fork();
        if (child < 0) {
            return errno;
        }
        if (child == 0) {
            hang();
        }
    }
    return hang();
}

int open_file(const std::string& path, int flags) {
    return result(::open(path.c_str(), flags, 0644));
}

int print_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    std::array<char, 4096> buffer;
    ssize_t size = -1;
    while (file >= 0 && (size = ::read(file, buffer.data(), buffer.size())) > 0) {
        std::cout.write(buffer.data(), size);
    }
    return result(size);
}

int print_environment() {
    std::array<char, 4096> directory;
    std::cout << "directory=" << ::getcwd(directory.data(), directory.size()) << '\n';
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        std::cout << *entry << '\n';
    }
    return 0;
}

int print_descriptors() {
    for (int fd = 0; fd < 1024; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) {
            std::cout << fd << '\n';
        }
    }
    return 0;
}

int connect_to(const std::string& address) {
    sockaddr_in target{};
    target.sin_family = AF_INET;
    target.sin_port = ::htons(9);
    ::inet_pton(AF_INET, address.c_str(), &target.sin_addr);
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    return result(::connect(socket, reinterpret_cast<const sockaddr*>(&target), sizeof target));
}

const std::map<std::string, std::function<int(const Arguments&)>>& modes() {
    static const std::map<std::string, std::function<int(const Arguments&)>> table = {
        {"exit", [](const Arguments& a) { return static_cast<int>(number(a.at(0))); }},
        {"signal",
         [](const Arguments& a) { return ::raise(static_cast<int>(number(a.at(0)))) + no_scene; }},
        {"abort", [](const Arguments&) -> int { std::abort(); }},
        {"print",
         [](const Arguments& a) {
             std::cout << a.at(0);
             std::cerr << a.at(1);
             return 0;
         }},
        {"hang",
         [](const Arguments&) {
             std::signal(SIGTERM, SIG_IGN);
             return hang();
         }},
        {"flood", [](const Arguments& a) { return flood(number(a.at(0))); }},
        {"daemon", [](const Arguments& a) { return leave_daemons(number(a.at(0))); }},
        {"sparse", [](const Arguments& a) { return sparse_file(number(a.at(0))); }},
        {"sparse-handled",
         [](const Arguments& a) {
             std::signal(SIGXFSZ, SIG_IGN);
             return sparse_file(number(a.at(0)));
         }},
        {"real", [](const Arguments& a) { return real_file(number(a.at(0))); }},
        {"undeletable", [](const Arguments& a) { return undeletable(number(a.at(0))); }},
        {"files",
         [](const Arguments& a) {
             int failed = 0;
             for (std::uint64_t i = 0; i < number(a.at(0)); ++i) {
                 failed += open_file(std::to_string(i), O_WRONLY | O_CREAT | O_CLOEXEC) != 0;
                 ::close_range(3, ~0U, 0);
             }
             return failed == 0 ? 0 : 1;
         }},
        {"memory", [](const Arguments& a) { return touch_memory(number(a.at(0))); }},
        {"memory-child",
         [](const Arguments& a) {
             const pid_t child = ::fork();
             if (child == 0) {
                 ::_exit(touch_memory(number(a.at(0))));
             }
             ::waitpid(child, nullptr, 0);
             return 1;
         }},
        {"shared-memory", [](const Arguments& a) { return leave_shared_memory(number(a.at(0))); }},
        {"fork-bomb", [](const Arguments&) { return fork_bomb(); }},
        {"children", [](const Arguments& a) { return sleeping_children(number(a.at(0))); }},
        {"rmdir", [](const Arguments& a) { return result(::rmdir(a.at(0).c_str())); }},
        {"read", [](const Arguments& a) { return print_file(a.at(0)); }},
        {"write", [](const Arguments& a) { return open_file(a.at(0), O_WRONLY | O_CREAT); }},
        {"connect", [](const Arguments& a) { return connect_to(a.at(0)); }},
        {"ptrace",
         [](const Arguments& a) {
             return result(
                 ::ptrace(PTRACE_ATTACH, static_cast<pid_t>(number(a.at(0))), nullptr, nullptr));
         }},
        {"kill",
         [](const Arguments& a) {
             return result(
                 ::kill(static_cast<pid_t>(number(a.at(0))), static_cast<int>(number(a.at(1)))));
         }},
        {"unshare", [](const Arguments&) { return result(::unshare(CLONE_NEWUSER)); }},
        {"environment", [](const Arguments&) { return print_environment(); }},
        {"descriptors", [](const Arguments&) { return print_descriptors(); }},
    };
    return table;
}

}  // namespace

int main(int argc, char** argv) {
    const Arguments arguments(argv + std::min(argc, 2), argv + argc);
    const auto mode = modes().find(argc > 1 ? argv[1] : "");
    return mode == modes().end() ? unknown : mode->second(arguments);
}

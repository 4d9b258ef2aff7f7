#include "campaign/workers/process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <linux/capability.h>
#include <optional>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"

namespace difffuzz {
namespace {

constexpr int worker_socket = 3;
constexpr int helper_descriptor = 3;
// Tells the executed worker what only its start knows.
constexpr const char* user_namespace_variable = "DIFFFUZZ_USER_NAMESPACE";

constexpr int namespaces = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

// What the child tells through a pipe that a successful exec closes.
struct ChildFailure {
    char step[24] = {};
    int number = 0;
};

// All that the child uses. It is a copy of a process with other threads, so it makes only system
// calls.
struct Child {
    int socket = -1;
    int parents_socket = -1;
    int status = -1;
    bool user_namespace = false;
    const char* executable = nullptr;
    char* const* argv = nullptr;
    char* const* environment = nullptr;
};

[[noreturn]] void give_up(const Child& child, const char* step) {
    ChildFailure failure;
    failure.number = errno;
    std::strncpy(failure.step, step, sizeof failure.step - 1);
    // The parent reads the end of the pipe as success; when this write fails it has died itself.
    [[maybe_unused]] const auto written = ::write(child.status, &failure, sizeof failure);
    ::_exit(127);
}

void wait_for_parent(const Child& child) {
    char go = 0;
    if (::read(child.socket, &go, 1) != 1) {
        ::_exit(127);
    }
}

// An ordinary user's exec loses the capabilities of the new user namespace unless they are ambient.
void keep_capabilities(const Child& child) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    if (::syscall(SYS_capget, &header, data) != 0) {
        give_up(child, "capget");
    }
    for (auto& part : data) {
        part.inheritable = part.permitted;
        part.effective = part.permitted;
    }
    if (::syscall(SYS_capset, &header, data) != 0) {
        give_up(child, "capset");
    }
    for (unsigned long capability = 0; capability < 64; ++capability) {
        if ((data[capability / 32].permitted >> (capability % 32) & 1) != 0 &&
            ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) {
            give_up(child, "ambient capabilities");
        }
    }
}

void arrange_descriptors(const Child& child) {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || ::dup2(null, STDIN_FILENO) < 0) {
        give_up(child, "/dev/null");
    }
    // All close on exec, except the one that is put in place after.
    if (::syscall(SYS_close_range, worker_socket, ~0U, 1U << 2 /* CLOSE_RANGE_CLOEXEC */) != 0) {
        give_up(child, "close_range");
    }
    if (::dup2(child.socket, worker_socket) < 0) {
        give_up(child, "socket");
    }
}

void reset_signals() {
    struct sigaction defaults {};
    defaults.sa_handler = SIG_DFL;
    for (int signal = 1; signal < SIGRTMIN; ++signal) {
        ::sigaction(signal, &defaults, nullptr);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

int child_main(void* argument) {
    const Child& child = *static_cast<const Child*>(argument);
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        give_up(child, "parent-death signal");
    }
    // A parent that died before the signal was armed has closed its end, and the read fails.
    ::close(child.parents_socket);
    wait_for_parent(child);
    constexpr std::string_view host = "difffuzz";
    if (::sethostname(host.data(), host.size()) != 0) {
        give_up(child, "sethostname");
    }
    if (::setsid() < 0) {
        give_up(child, "setsid");
    }
    if (child.user_namespace) {
        keep_capabilities(child);
    }
    arrange_descriptors(child);
    reset_signals();
    ::execve(child.executable, child.argv, child.environment);
    give_up(child, "exec");
}

struct Cloned {
    pid_t pid = -1;
    FileDescriptor pidfd;
};

std::optional<Cloned> clone_child(Child& child, int flags) {
    constexpr std::size_t stack_size = 256 * 1024;
    void* const stack = ::mmap(nullptr, stack_size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "mmap");
    }
    int pidfd = -1;
    const pid_t pid = ::clone(child_main, static_cast<char*>(stack) + stack_size,
                              flags | CLONE_PIDFD | SIGCHLD, &child, &pidfd);
    const int number = errno;
    ::munmap(stack, stack_size);
    errno = number;
    if (pid < 0) {
        return std::nullopt;
    }
    return Cloned{pid, FileDescriptor(pidfd)};
}

void write_file(const std::string& path, const std::string& text) {
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid() ||
        ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw EnvironmentError("cannot write " + path + " (" + std::strerror(errno) +
                               "): the system restricts user namespaces; allow them or run "
                               "difffuzz as root");
    }
}

// The identity map of every id that this process has (user_namespaces(7): lines of inside, outside,
// count).
std::string whole_identity_map(const char* own_map) {
    std::ifstream lines(own_map);
    std::string result;
    std::string inside;
    std::string outside;
    std::string count;
    while (lines >> inside >> outside >> count) {
        result += inside + " " + inside + " " + count + "\n";
    }
    return result;
}

void write_maps(pid_t pid) {
    const std::string process = "/proc/" + std::to_string(pid);
    if (::geteuid() == 0) {
        write_file(process + "/uid_map", whole_identity_map("/proc/self/uid_map"));
        write_file(process + "/gid_map", whole_identity_map("/proc/self/gid_map"));
        return;
    }
    const auto to_itself = [](auto id) {
        return std::to_string(id) + " " + std::to_string(id) + " 1\n";
    };
    // An ordinary user may map a group only when no group can be dropped (user_namespaces(7)).
    write_file(process + "/setgroups", "deny");
    write_file(process + "/uid_map", to_itself(::geteuid()));
    write_file(process + "/gid_map", to_itself(::getegid()));
}

[[noreturn]] void refuse_namespaces(int number) {
    throw EnvironmentError(
        std::string("cannot start a worker in namespaces of its own (") + std::strerror(number) +
        "): run difffuzz as root, or allow user namespaces (sysctl user.max_user_namespaces above "
        "0; where they exist, kernel.unprivileged_userns_clone=1 and "
        "kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that "
        "permits clone and mount)");
}

// Environment of the worker: ours, with what it must know.
std::vector<std::string> worker_environment(bool user_namespace) {
    std::vector<std::string> result;
    const std::string prefix = fmt::format("{}=", user_namespace_variable);
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        if (!std::string_view(*entry).starts_with(prefix)) {
            result.emplace_back(*entry);
        }
    }
    result.push_back(fmt::format("{}{}", prefix, user_namespace ? 1 : 0));
    return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (auto& string : strings) {
        result.push_back(string.data());
    }
    result.push_back(nullptr);
    return result;
}

// The child's end is above the descriptors that the child puts in place.
struct Ends {
    FileDescriptor ours;
    FileDescriptor theirs;
};

Ends make_ends(int ours, int theirs) {
    FileDescriptor first(ours);
    const FileDescriptor second(theirs);
    const int above = ::fcntl(theirs, F_DUPFD_CLOEXEC, worker_socket + 1);
    if (above < 0) {
        throw std::system_error(errno, std::generic_category(), "fcntl");
    }
    return {std::move(first), FileDescriptor(above)};
}

Ends make_sockets() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    return make_ends(ends[0], ends[1]);
}

Ends make_status_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    return make_ends(ends[0], ends[1]);
}

std::optional<WorkerProcess> try_start(const std::string& executable,
                                       const std::vector<std::string>& arguments,
                                       bool user_namespace) {
    auto sockets = make_sockets();
    auto status = make_status_pipe();
    std::vector<std::string> words{executable};
    words.insert(words.end(), arguments.begin(), arguments.end());
    auto environment_strings = worker_environment(user_namespace);
    const auto argv = pointers(words);
    const auto environment = pointers(environment_strings);
    Child child;
    child.socket = sockets.theirs.get();
    child.parents_socket = sockets.ours.get();
    child.status = status.theirs.get();
    child.user_namespace = user_namespace;
    child.executable = executable.c_str();
    child.argv = argv.data();
    child.environment = environment.data();
    auto cloned = clone_child(child, namespaces | (user_namespace ? CLONE_NEWUSER : 0));
    if (!cloned) {
        return std::nullopt;
    }
    sockets.theirs.reset();
    status.theirs.reset();
    try {
        if (user_namespace) {
            write_maps(cloned->pid);
        }
        ChildFailure failure;
        // A child that is gone already has left its reason in the pipe.
        [[maybe_unused]] const auto sent = ::send(sockets.ours.get(), "g", 1, MSG_NOSIGNAL);
        ssize_t size = 0;
        do {
            size = ::read(status.ours.get(), &failure, sizeof failure);
        } while (size < 0 && errno == EINTR);
        if (size != 0) {
            throw EnvironmentError("cannot start a worker: " + std::string(failure.step) + " of " +
                                   executable + ": " + std::strerror(failure.number));
        }
    } catch (...) {
        ::kill(cloned->pid, SIGKILL);
        ::waitpid(cloned->pid, nullptr, 0);
        throw;
    }
    return WorkerProcess{cloned->pid, cloned->pidfd.release(), sockets.ours.release()};
}

}  // namespace

WorkerProcess start_worker(const std::string& executable,
                           const std::vector<std::string>& arguments) {
    if (auto worker = try_start(executable, arguments, true)) {
        return *worker;
    }
    const int number = errno;
    if (::geteuid() == 0) {
        if (auto worker = try_start(executable, arguments, false)) {
            return *worker;
        }
    }
    refuse_namespaces(number);
}

bool worker_has_user_namespace() {
    const char* const value = std::getenv(user_namespace_variable);
    return value != nullptr && std::string_view(value) == "1";
}

void die_with_parent() {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        throw std::system_error(errno, std::generic_category(), "parent-death signal");
    }
    pollfd socket{worker_socket, 0, 0};
    if (::poll(&socket, 1, 0) > 0 && (socket.revents & POLLHUP) != 0) {
        ::_exit(0);
    }
}

HelperProcess start_helper(const std::string& executable, const std::vector<std::string>& arguments,
                           int handed_over) {
    int input[2];
    int output[2];
    if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    const FileDescriptor their_input(input[0]);
    FileDescriptor our_input(input[1]);
    FileDescriptor our_output(output[0]);
    const FileDescriptor their_output(output[1]);
    std::vector<std::string> words{executable};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const auto argv = pointers(words);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, their_input.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, their_output.get(), STDOUT_FILENO);
    if (handed_over >= 0) {
        posix_spawn_file_actions_adddup2(&actions, handed_over, helper_descriptor);
    } else {
        posix_spawn_file_actions_addopen(&actions, helper_descriptor, "/dev/null", O_RDONLY, 0);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, helper_descriptor + 1);
    pid_t pid = -1;
    const int error =
        ::posix_spawn(&pid, executable.c_str(), &actions, nullptr, argv.data(), ::environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw EnvironmentError("cannot start " + executable + ": " + std::strerror(error));
    }
    return {pid, our_input.release(), our_output.release()};
}

void wait_for_helper(const HelperProcess& helper) {
    while (::waitpid(helper.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void end_with_parent() {
    const pid_t parent = ::getppid();
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        throw std::system_error(errno, std::generic_category(), "parent-death signal");
    }
    if (::getppid() != parent) {
        ::_exit(0);
    }
}

}  // namespace difffuzz

#include "core/tools/launch.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/tools/landlock.hpp"

namespace difffuzz {
namespace {

constexpr rlim_t open_files = 1024;

// Never raises a hard limit, which an ordinary user could not.
int limit(__rlimit_resource resource, std::uint64_t value) noexcept {
    rlimit now{};
    if (::getrlimit(resource, &now) != 0) {
        return errno;
    }
    const rlim_t wanted = std::min<rlim_t>(value, now.rlim_max);
    const rlimit then{wanted, wanted};
    return ::setrlimit(resource, &then) == 0 ? 0 : errno;
}

}  // namespace

bool ChildSetup::apply() noexcept {
    return start_session() && set_streams() && set_limits() && change_identity() &&
           drop_privileges() && reset_signals();
}

bool ChildSetup::fail(const char* step, int number) noexcept {
    failed_step = step;
    error_number = number;
    return false;
}

bool ChildSetup::start_session() noexcept {
    if (::setsid() < 0) {
        return fail("setsid", errno);
    }
    const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score < 0 || ::write(score, "1000", 4) != 4) {
        return fail("oom_score_adj", errno);
    }
    ::close(score);
    return true;
}

bool ChildSetup::set_streams() noexcept {
    if (::dup2(input, STDIN_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0 ||
        ::dup2(error, STDERR_FILENO) < 0) {
        return fail("dup2", errno);
    }
    return true;
}

bool ChildSetup::set_limits() noexcept {
    ::umask(file_mask);
    int number = limit(RLIMIT_CORE, 0);
    number = number != 0 ? number : limit(RLIMIT_NOFILE, open_files);
    number = number != 0 ? number : limit(RLIMIT_FSIZE, file_bytes);
    if (processes != 0) {
        number = number != 0 ? number : limit(RLIMIT_NPROC, processes);
    }
    return number == 0 || fail("setrlimit", number);
}

bool ChildSetup::change_identity() noexcept {
    // Raw calls: glibc's wrappers tell all threads of the process, which are the parent's here.
    if (identity.change) {
        if (::syscall(SYS_setgroups, 0, nullptr) != 0) {
            return fail("setgroups", errno);
        }
        if (::syscall(SYS_setresgid, identity.gid, identity.gid, identity.gid) != 0) {
            return fail("setresgid", errno);
        }
        if (::syscall(SYS_setresuid, identity.uid, identity.uid, identity.uid) != 0) {
            return fail("setresuid", errno);
        }
    }
    if (::chdir(directory) != 0) {
        return fail("chdir", errno);
    }
    return true;
}

bool ChildSetup::drop_privileges() noexcept {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 ||
        ::syscall(SYS_capset, &header, none) != 0) {
        return fail("capset", errno);
    }
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return fail("no_new_privs", errno);
    }
    const int number = landlock < 0 ? 0 : landlock_restrict(landlock);
    return number == 0 || fail("landlock", number);
}

bool ChildSetup::reset_signals() noexcept {
    // exec resets handlers, but what is ignored stays so, and so does the mask.
    struct sigaction defaults {};
    defaults.sa_handler = SIG_DFL;
    for (int signal = 1; signal < SIGRTMIN; ++signal) {
        ::sigaction(signal, &defaults, nullptr);
    }
    sigset_t none;
    ::sigemptyset(&none);
    return ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0 || fail("sigprocmask", errno);
}

}  // namespace difffuzz

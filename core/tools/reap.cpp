#include "core/tools/reap.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "core/tools/process_survey.hpp"

namespace difffuzz {
namespace {

// Reaps what has ended; whether a child is left.
bool child_left() {
    for (;;) {
        const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
        if (pid <= 0 && !(pid < 0 && errno == EINTR)) {
            return pid == 0;
        }
    }
}

}  // namespace

void kill_all() {
    assert(::getpid() == 1);
    ::kill(-1, SIGKILL);
}

Leftovers end_leftovers() {
    using clock = std::chrono::steady_clock;
    if (!child_left()) {
        return {};
    }
    const auto survey = survey_processes();
    const auto deadline = clock::now() + std::chrono::seconds(reap_seconds);
    auto pause = std::chrono::microseconds(50);
    do {
        // Again each time: a kill does not reach a process that is being forked by another.
        kill_all();
        std::this_thread::sleep_for(pause);
        pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds(5));
        if (clock::now() > deadline) {
            throw std::system_error(ETIMEDOUT, std::generic_category(),
                                    "a process that a command left does not end on SIGKILL");
        }
    } while (child_left());
    return {survey.processes, survey.threads};
}

}  // namespace difffuzz

#include "apps/difffuzz/interruption.hpp"

#include <csignal>
#include <cstring>

#include <unistd.h>

#include "core/errors.hpp"

namespace difffuzz {
namespace {

// Calls only what a signal handler may call.
void end(int) {
    constexpr char sentence[] = "difffuzz: interrupted\n";
    // The exit code says the same, should nobody read the sentence.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, sentence, std::strlen(sentence));
    ::_exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace

void end_when_interrupted() {
    struct sigaction action {};
    action.sa_handler = end;
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction before {};
        // Who starts a program with a signal ignored, as nohup and shells do, means it.
        if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
            ::sigaction(signal, &action, nullptr);
        }
    }
}

}  // namespace difffuzz

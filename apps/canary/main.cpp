// difffuzz-canary: hands every command on to a real qemu-img, and plants the one fault that its
// environment names (core/tools/stand_in.hpp). Started by difffuzz alone.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "apps/canary/fault.hpp"
#include "core/errors.hpp"
#include "core/tools/stand_in.hpp"

namespace difffuzz::canary {
namespace {

// What the real tool is to see: all but what is for this program, and what is kept for it there.
std::vector<std::string> environment_of_tool() {
    constexpr std::string_view prefix = stand_in::entry_prefix;
    constexpr std::string_view own = "DIFFFUZZ_STAND_IN_";
    std::vector<std::string> own_entries;
    std::vector<std::string> tools_entries;
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (text.starts_with(prefix)) {
            tools_entries.emplace_back(text.substr(prefix.size()));
        } else if (!text.starts_with(own) && !text.starts_with("LD_LIBRARY_PATH=")) {
            own_entries.emplace_back(text);
        }
    }
    own_entries.insert(own_entries.end(), tools_entries.begin(), tools_entries.end());
    return own_entries;
}

void leave_mark() {
    const char* const directory = std::getenv("TMPDIR");
    const std::string path =
        std::string(directory != nullptr ? directory : ".") + "/" + stand_in::mark;
    ::close(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

void print(int stream, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(stream, text.data(), text.size());
        if (written <= 0) {
            return;  // nobody listens any more
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

[[noreturn]] void end(const Answer& answer) {
    if (answer.planted) {
        leave_mark();
    }
    print(STDOUT_FILENO, answer.out);
    print(STDERR_FILENO, answer.err);
    if (answer.signal != 0) {
        // A sanitizer that this program was built with would turn the signal into an exit code.
        std::signal(answer.signal, SIG_DFL);
        ::raise(answer.signal);
    }
    while (answer.hangs) {
        ::pause();
    }
    ::_exit(answer.code);
}

int stand_in_for_tool(std::vector<std::string> words) {
    const char* const program = std::getenv(stand_in::program_variable);
    if (program == nullptr) {
        std::cerr << "difffuzz-canary: this program stands in for a qemu-img where difffuzz starts "
                     "it; run 'difffuzz selftest'\n";
        return static_cast<int>(ExitCode::usage);
    }
    const Call call(std::move(words), program, environment_of_tool());
    const char* const faults = std::getenv(stand_in::fault_variable);
    std::istringstream names(faults != nullptr ? faults : "");
    for (std::string name; std::getline(names, name, stand_in::fault_separator);) {
        const Fault* const fault = find_fault(name);
        if (fault == nullptr) {
            std::cerr << "difffuzz-canary: there is no fault '" << name << "'\n";
            return static_cast<int>(ExitCode::usage);
        }
        if (const auto answer = fault->plant(call)) {
            end(*answer);
        }
    }
    call.become_tool();
    std::cerr << "difffuzz-canary: cannot start " << program << "\n";
    return static_cast<int>(ExitCode::environment);
}

}  // namespace
}  // namespace difffuzz::canary

int main(int argc, char** argv) {
    try {
        return difffuzz::canary::stand_in_for_tool(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception& error) {
        std::cerr << "difffuzz-canary: " << error.what() << "\n";
        return static_cast<int>(difffuzz::ExitCode::environment);
    }
}

#include "tests/support/run_tool.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

extern char** environ;

namespace difffuzz::test {
namespace {

std::string read_all(int descriptor) {
    std::string text;
    char buffer[65536];
    for (ssize_t got = 0;
         (got = ::pread(descriptor, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0;) {
        text.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(descriptor);
    return text;
}

// Streams go to unnamed files: a pipe that nobody empties could stop the program.
int unnamed_file() {
    char name[] = "/tmp/run_tool_XXXXXX";
    const int descriptor = ::mkostemp(name, O_CLOEXEC);
    if (descriptor < 0) {
        throw std::runtime_error("cannot make a temporary file");
    }
    ::unlink(name);
    return descriptor;
}

}  // namespace

Outcome run_tool(const std::filesystem::path& directory, const std::vector<std::string>& argv) {
    std::vector<char*> pointers;
    for (const std::string& argument : argv) {
        pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    const int out = unnamed_file();
    const int err = unnamed_file();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    pid_t child = 0;
    const int error =
        ::posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);

    Outcome outcome;
    int status = 0;
    if (error != 0) {
        outcome.ending = FailedToStart{error, "exec"};
    } else if (::waitpid(child, &status, 0) != child) {
        throw std::runtime_error("cannot wait for " + argv[0]);
    } else if (WIFEXITED(status)) {
        outcome.ending = Exited{WEXITSTATUS(status)};
    } else {
        outcome.ending = Signalled{WTERMSIG(status), false};
    }
    outcome.out.head = read_all(out);
    outcome.err.head = read_all(err);
    outcome.out.observed_bytes = outcome.out.head.size();
    outcome.err.observed_bytes = outcome.err.head.size();
    return outcome;
}

Outcome RealTools::qemu_img(const std::vector<std::string>& arguments) {
    std::vector<std::string> argv{qemu_img_};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run_tool(directory_, argv);
}

ScratchDirectory::ScratchDirectory() {
    const char* const memory = "/dev/shm";
    const bool usable = ::access(memory, W_OK | X_OK) == 0;
    std::string name = std::string(usable ? memory : "/tmp") + "/difffuzz_test_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::runtime_error("cannot make a scratch directory");
    }
    path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        throw std::runtime_error("cannot read " + path.string());
    }
    return read_all(descriptor);
}

}  // namespace difffuzz::test

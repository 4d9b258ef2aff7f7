// What difffuzz costs beside the commands it runs: drives the executor over drawn cases in a real
// worker; before each contained command the same words are run bare with posix_spawn on a copy of
// the workspace (run again on what the first run left, most of them would have less to do), and
// both times stand in one run.
//
//   overhead [CASES] [SEED]
//
// Prints the wall time of the cases over that of the bare commands, and the worker's own CPU over
// the CPU of the contained commands.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "campaign/execution/executor.hpp"
#include "campaign/execution/workspace.hpp"
#include "campaign/workers/process.hpp"
#include "core/errors.hpp"
#include "ops/reach.hpp"

namespace {

using namespace difffuzz;
using Clock = std::chrono::steady_clock;

constexpr const char* inside = "inside";

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double cpu_of(int who) {
    rusage usage{};
    ::getrusage(who, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Totals {
    double bare_wall = 0;
    double bare_cpu = 0;    // of the bare commands
    double aside_wall = 0;  // of all that the benchmark does before contained commands
    double aside_cpu = 0;   // of this process, for the same
    std::size_t commands = 0;
};

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> result;
    for (std::string& word : words) {
        result.push_back(word.data());
    }
    result.push_back(nullptr);
    return result;
}

void copy_files(const std::string& from, const std::string& to) {
    std::filesystem::create_directories(to);
    const std::vector<std::string> directories{to};
    for (const auto& entry : std::filesystem::directory_iterator(from)) {
        if (entry.is_regular_file() && !entry.is_symlink()) {
            clone_file(from, directories, entry.path().filename().string());
        }
    }
}

void run_bare(Command command, Totals& totals) {
    const double children = cpu_of(RUSAGE_CHILDREN);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const int stream : {0, 1, 2}) {
        ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    }
    ::posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
    auto argv = pointers(command.argv);
    auto environment = pointers(command.environment);
    const auto begin = Clock::now();
    pid_t child = -1;
    if (::posix_spawn(&child, command.program.c_str(), &actions, nullptr, argv.data(),
                      environment.data()) == 0) {
        ::waitpid(child, nullptr, 0);
    }
    totals.bare_wall += since(begin);
    ::posix_spawn_file_actions_destroy(&actions);
    totals.bare_cpu += cpu_of(RUSAGE_CHILDREN) - children;
    ++totals.commands;
}

void run_bare_on_a_copy(Command command, Totals& totals) {
    const double own = cpu_of(RUSAGE_SELF);
    const auto begin = Clock::now();
    const std::string copy =
        std::filesystem::path(command.directory).parent_path().string() + "/bare";
    copy_files(command.directory, copy);
    command.directory = copy;
    run_bare(std::move(command), totals);
    std::filesystem::remove_all(copy);
    totals.aside_wall += since(begin);
    totals.aside_cpu += cpu_of(RUSAGE_SELF) - own;
}

int measure(std::uint64_t cases, std::uint64_t seed) {
    SandboxOptions options;
    options.tools = {{"subject", "/usr/bin/qemu-img"}, {"reference", "/usr/bin/qemu-img"}};
    options.run_as = {::geteuid() == 0, 65534, 65534};
    Sandbox sandbox(options);
    Totals totals;
    sandbox.before_each([&](const Command& command) { run_bare_on_a_copy(command, totals); });
    Executor executor(sandbox, Limits{});
    const Plan plan = default_plan();
    // A campaign's workers get what the plan can draw from the coordinator, which works it out
    // once.
    reach_of(plan);
    const double own = cpu_of(RUSAGE_SELF);
    const double children = cpu_of(RUSAGE_CHILDREN);
    const auto begin = Clock::now();
    for (std::uint64_t index = 0; index < cases; ++index) {
        executor.run(draw_case(plan, seed, index, 0), {});
    }
    const double wall = since(begin) - totals.aside_wall;
    const double own_cpu = cpu_of(RUSAGE_SELF) - own - totals.aside_cpu;
    const double tools_cpu = cpu_of(RUSAGE_CHILDREN) - children - totals.bare_cpu;
    std::printf("%llu cases, %zu commands\n", static_cast<unsigned long long>(cases),
                totals.commands);
    std::printf("wall of the cases / wall of the bare commands: %.3f\n", wall / totals.bare_wall);
    std::printf("own CPU / CPU of the contained commands:       %.3f\n", own_cpu / tools_cpu);
    std::printf("CPU of the contained / of the bare commands:   %.3f\n",
                tools_cpu / totals.bare_cpu);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc > 1 && std::strcmp(argv[1], inside) == 0) {
            return measure(std::strtoull(argv[2], nullptr, 10),
                           std::strtoull(argv[3], nullptr, 10));
        }
        const WorkerProcess worker = start_worker(
            "/proc/self/exe", {inside, argc > 1 ? argv[1] : "400", argc > 2 ? argv[2] : "42"});
        int status = 0;
        ::waitpid(worker.pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    } catch (const EnvironmentError& error) {
        std::fprintf(stderr, "overhead: %s\n", error.what());
        return 3;
    }
}

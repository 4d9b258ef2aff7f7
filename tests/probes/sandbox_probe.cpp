// Stands in for difffuzz in the tests of workers and sandboxes.
//
//   sandbox_probe coordinate FD   starts a worker, writes its pid to FD, and passes lines between
//   FD
//                                 and the worker until either ends
//   sandbox_probe work            the worker: one JSON request per line on descriptor 3, one JSON
//                                 answer each; the first request makes the sandbox
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "campaign/execution/sandbox.hpp"
#include "campaign/workers/process.hpp"
#include "core/errors.hpp"

namespace {

using nlohmann::json;
using namespace difffuzz;

struct EndingJson {
    json operator()(const Exited& e) const { return {{"kind", "exited"}, {"code", e.code}}; }
    json operator()(const Signalled& e) const {
        return {{"kind", "signalled"}, {"code", e.signal}};
    }
    json operator()(const Limited& e) const {
        return {{"kind", "limited"}, {"what", to_string(e.which)}};
    }
    json operator()(const TimedOut&) const { return {{"kind", "timed_out"}}; }
    json operator()(const FailedToStart& e) const {
        return {{"kind", "failed_to_start"}, {"code", e.error_number}, {"what", e.what}};
    }
};

json to_json(const Stream& stream) {
    constexpr std::size_t shown = 65536;
    return {{"head", stream.head.substr(0, shown)},
            {"kept", stream.head.size() + stream.tail.size()},
            {"observed", stream.observed_bytes}};
}

json to_json(const Outcome& outcome) {
    json result = std::visit(EndingJson{}, outcome.ending);
    result["out"] = to_json(outcome.out);
    result["err"] = to_json(outcome.err);
    result["left"] = outcome.processes_left;
    result["memory"] = outcome.usage.peak_memory_bytes;
    result["disk"] = outcome.usage.disk_bytes;
    if (outcome.usage.written_bytes) {
        result["written"] = *outcome.usage.written_bytes;
    }
    if (outcome.usage.tasks) {
        result["tasks"] = *outcome.usage.tasks;
    }
    result["wall_us"] = outcome.usage.wall_us;
    return result;
}

json to_json(const Containment& c) {
    return {{"pid_namespace", c.pid_namespace},         {"landlock", c.landlock},
            {"landlock_abi", c.landlock_abi},           {"memory_cgroup", c.memory_cgroup},
            {"no_new_privileges", c.no_new_privileges}, {"unprivileged_user", c.unprivileged_user}};
}

SandboxOptions options_from(const json& request) {
    SandboxOptions options;
    for (const auto& [name, program] : request.at("tools").items()) {
        options.tools.push_back({name, program.get<std::string>()});
    }
    options.exposed = request.value("exposed", std::vector<std::string>{});
    options.run_as = {true, 65534, 65534};
    options.disk_bytes = request.value("disk_bytes", std::uint64_t{256} << 20);
    return options;
}

Command command_from(Sandbox& sandbox, const json& request) {
    Command command;
    const std::string name = request.value("tool", "");
    for (const auto& tool : sandbox.tools()) {
        if (tool.name == name) {
            command.program = tool.program;
            command.environment = tool.environment;
        }
    }
    command.program = request.value("program", command.program);
    command.argv = {command.program};
    for (const auto& word : request.value("arguments", std::vector<std::string>{})) {
        command.argv.push_back(word);
    }
    command.environment.emplace_back("LC_ALL=C");
    const int side = request.value("side", 0);
    command.directory = request.value("directory", sandbox.directory(side));
    command.writable = request.value("writable", std::vector{sandbox.directory(side)});
    auto& limits = command.limits;
    limits.time = std::chrono::milliseconds(request.value("time_ms", 60'000));
    limits.disk_bytes = std::uint64_t{1} << 40;
    limits.file_bytes = request.value("file_bytes", limits.file_bytes);
    limits.memory_bytes = request.value("memory_bytes", limits.memory_bytes);
    limits.processes = request.value("processes", limits.processes);
    limits.stream_bytes = request.value("stream_bytes", limits.stream_bytes);
    return command;
}

std::uint64_t cpu_us(int who) {
    rusage usage{};
    ::getrusage(who, &usage);
    const auto us = [](const timeval& t) {
        return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000 +
               static_cast<std::uint64_t>(t.tv_usec);
    };
    return us(usage.ru_utime) + us(usage.ru_stime);
}

// What this process itself spends on `count` runs, and what the commands take.
json measure(Sandbox& sandbox, const json& request) {
    const auto command = command_from(sandbox, request);
    const int count = request.at("count");
    const auto self = cpu_us(RUSAGE_SELF);
    const auto children = cpu_us(RUSAGE_CHILDREN);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
        sandbox.run(command);
    }
    const auto wall = std::chrono::steady_clock::now() - start;
    return {
        {"self_us", (cpu_us(RUSAGE_SELF) - self) / static_cast<std::uint64_t>(count)},
        {"children_us", (cpu_us(RUSAGE_CHILDREN) - children) / static_cast<std::uint64_t>(count)},
        {"wall_us", std::chrono::duration_cast<std::chrono::microseconds>(wall).count() / count}};
}

json answer(std::optional<Sandbox>& sandbox, const json& request) {
    const std::string operation = request.at("do");
    if (operation == "make") {
        sandbox.emplace(options_from(request));
        json tools = json::object();
        for (const auto& tool : sandbox->tools()) {
            tools[tool.name] = {{"program", tool.program},
                                {"files", tool.files},
                                {"environment", tool.environment}};
        }
        return {{"tools", tools}, {"containment", to_json(sandbox->containment())}};
    }
    if (!sandbox) {
        throw std::runtime_error("there is no sandbox");
    }
    const int side = request.value("side", 0);
    if (operation == "run") {
        return to_json(sandbox->run(command_from(*sandbox, request)));
    }
    if (operation == "reset") {
        sandbox->reset(side);
        return {{"used", sandbox->disk_used(side)}};
    }
    if (operation == "used") {
        return {{"used", sandbox->disk_used(side)}};
    }
    if (operation == "write") {
        std::ofstream file(sandbox->directory(side) + "/" + request.at("name").get<std::string>());
        file << "text" << std::flush;
        return {{"good", file.good()}};
    }
    return measure(*sandbox, request);
}

int work() {
    std::optional<Sandbox> sandbox;
    FILE* const in = ::fdopen(3, "r");
    char* line = nullptr;
    std::size_t room = 0;
    while (::getline(&line, &room, in) > 0) {
        json reply;
        try {
            reply = answer(sandbox, json::parse(line));
        } catch (const EnvironmentError& error) {
            reply = {{"environment_error", error.what()}};
        } catch (const std::exception& error) {
            reply = {{"failure", error.what()}};
        }
        const auto text = reply.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
        if (::write(3, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
            break;
        }
    }
    std::free(line);
    std::fclose(in);
    return 0;
}

bool pass(int from, int to) {
    char buffer[65536];
    const auto size = ::read(from, buffer, sizeof buffer);
    return size > 0 && ::write(to, buffer, static_cast<std::size_t>(size)) == size;
}

int coordinate(int client) {
    const auto say = [client](const json& text) {
        const auto line = text.dump() + "\n";
        return ::write(client, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    };
    WorkerProcess worker;
    try {
        worker = start_worker("/proc/self/exe", {"work"});
    } catch (const EnvironmentError& error) {
        say({{"environment_error", error.what()}});
        return 3;
    }
    say({{"pid", worker.pid}});
    pollfd ends[] = {{client, POLLIN, 0}, {worker.socket, POLLIN, 0}};
    while (::poll(ends, 2, -1) > 0) {
        if ((ends[0].revents != 0 && !pass(client, worker.socket)) ||
            (ends[1].revents != 0 && !pass(worker.socket, client))) {
            break;
        }
    }
    ::close(worker.socket);
    int status = 0;
    ::waitpid(worker.pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        std::cerr << "sandbox_probe: the worker ended with wait status " << status << '\n';
        return 1;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc > 1 ? argv[1] : "";
    if (mode == "coordinate" && argc == 3) {
        return coordinate(std::atoi(argv[2]));
    }
    return mode == "work" ? work() : 2;
}

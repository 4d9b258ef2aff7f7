#include "apps/canary/call.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/tools/file_descriptor.hpp"
#include "images/format.hpp"

namespace difffuzz::canary {
namespace {

constexpr const char* tool_name = "qemu-img";

[[noreturn]] void fail(const std::string& what, int number) {
    throw std::runtime_error(what + ": " + std::strerror(number));
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (std::string& string : strings) {
        result.push_back(string.data());
    }
    result.push_back(nullptr);
    return result;
}

// A stream of the real tool, in memory.
FileDescriptor make_stream() {
    FileDescriptor file(::memfd_create("stream", MFD_CLOEXEC));
    if (!file.valid()) {
        fail("memfd_create", errno);
    }
    return file;
}

std::string content_of(const FileDescriptor& file) {
    std::string text;
    char block[4096];
    ssize_t size = 0;
    while ((size = ::pread(file.get(), block, sizeof block, static_cast<off_t>(text.size()))) > 0) {
        text.append(block, static_cast<std::size_t>(size));
    }
    return text;
}

// The name of an image in a word: "src.qcow2", "of=out.raw", "driver=qcow2,...,file.filename=...".
std::string image_in(const std::string& word) {
    const std::size_t equals = word.rfind('=');
    std::string name = equals == std::string::npos ? word : word.substr(equals + 1);
    return format_of_file(name).empty() ? std::string() : name;
}

}  // namespace

std::string_view format_of_file(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    const Format* format =
        dot == std::string_view::npos ? nullptr : find_format(name.substr(dot + 1));
    const bool plain = name.find_first_of("/,:=") == std::string_view::npos;
    return format == nullptr || !plain ? std::string_view() : format->name;
}

Call::Call(std::vector<std::string> words, std::string program,
           std::vector<std::string> environment)
    : words_(std::move(words)),
      program_(std::move(program)),
      environment_(std::move(environment)) {}

std::string_view Call::command() const { return words_.empty() ? std::string_view() : words_[0]; }

bool Call::has(std::string_view word) const {
    return std::find(words_.begin(), words_.end(), word) != words_.end();
}

std::optional<std::string> Call::value(std::string_view option) const {
    const std::string operand = std::string(option) + "=";
    for (std::size_t i = 1; i < words_.size(); ++i) {
        if (words_[i].starts_with(operand)) {
            return words_[i].substr(operand.size());
        }
        if (words_[i - 1] == option) {
            return words_[i];
        }
    }
    return std::nullopt;
}

bool Call::mentions(std::string_view text) const {
    return std::any_of(words_.begin(), words_.end(), [&](const std::string& word) {
        return word.find(text) != std::string::npos;
    });
}

std::vector<std::string> Call::images() const {
    std::vector<std::string> names;
    for (std::size_t i = 1; i < words_.size(); ++i) {
        const std::string& before = words_[i - 1];
        if (before == "-b" || before == "-B" || before == "-o") {
            continue;
        }
        if (std::string name = image_in(words_[i]); !name.empty()) {
            names.push_back(std::move(name));
        }
    }
    return names;
}

std::string Call::target() const {
    if (is("dd")) {
        return image_in(value("of").value_or(""));
    }
    const std::vector<std::string> names = images();
    return names.empty() ? std::string() : names.back();
}

std::string Call::source() const {
    if (is("dd")) {
        return image_in(value("if").value_or(""));
    }
    const std::vector<std::string> names = images();
    return names.empty() ? std::string() : names.front();
}

bool Call::wants_json() const { return value("--output") == "json"; }

Answer Call::run(const std::vector<std::string>& words) const {
    const FileDescriptor out = make_stream();
    const FileDescriptor err = make_stream();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, err.get(), STDERR_FILENO);
    std::vector<std::string> argv_strings{tool_name};
    argv_strings.insert(argv_strings.end(), words.begin(), words.end());
    std::vector<std::string> environment_strings = environment_;
    pid_t child = -1;
    const int error =
        ::posix_spawn(&child, program_.c_str(), &actions, nullptr, pointers(argv_strings).data(),
                      pointers(environment_strings).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        fail("cannot start " + program_, error);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            fail("waitpid", errno);
        }
    }
    Answer answer;
    answer.out = content_of(out);
    answer.err = content_of(err);
    answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    answer.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return answer;
}

void Call::become_tool() const {
    std::vector<std::string> argv_strings{tool_name};
    argv_strings.insert(argv_strings.end(), words_.begin(), words_.end());
    std::vector<std::string> environment_strings = environment_;
    ::execve(program_.c_str(), pointers(argv_strings).data(), pointers(environment_strings).data());
}

std::vector<std::string> Call::with_value(std::string_view option, const std::string& value) const {
    std::vector<std::string> words = words_;
    const std::string operand = std::string(option) + "=";
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i].starts_with(operand)) {
            words[i] = operand + value;
            break;
        }
        if (words[i - 1] == option) {
            words[i] = value;
            break;
        }
    }
    return words;
}

std::vector<std::string> Call::with_text(std::string_view from, std::string_view to) const {
    std::vector<std::string> words = words_;
    for (std::string& word : words) {
        if (const std::size_t at = word.find(from); at != std::string::npos) {
            word.replace(at, from.size(), to);
        }
    }
    return words;
}

std::vector<std::string> Call::without(std::string_view option, bool has_value) const {
    std::vector<std::string> words = words_;
    const auto at = std::find(words.begin(), words.end(), option);
    if (at != words.end()) {
        words.erase(at, has_value && at + 1 != words.end() ? at + 2 : at + 1);
    }
    return words;
}

std::vector<std::string> Call::with_more(const std::vector<std::string>& more) const {
    std::vector<std::string> words = words_;
    words.insert(words.begin() + (words.empty() ? 0 : 1), more.begin(), more.end());
    return words;
}

}  // namespace difffuzz::canary

#include "reporting/filing/tokens.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "campaign/evidence/files.hpp"
#include "core/decimal.hpp"
#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_token_bytes = 4096;
constexpr const char* any_token = "DIFFFUZZ_TOKEN";
constexpr const char* token_file_variable = "DIFFFUZZ_TOKEN_FILE";
// Tells the program executed anew where the tokens are: "FD NAME NAME".
constexpr const char* handed_over_variable = "DIFFFUZZ_TOKEN_PIPE";

std::vector<std::string> token_variables() {
    std::vector<std::string> names{any_token};
    for (const TrackerRow& row : trackers()) {
        names.insert(names.end(), row.token_variables.begin(), row.token_variables.end());
    }
    return names;
}

std::string name_of(std::string_view entry) {
    return std::string(entry.substr(0, entry.find('=')));
}

// The read end of a pipe that holds `text`; above the standard streams, inherited by exec.
int pipe_with(const std::string& text) {
    int ends[2];
    if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) {
        throw EnvironmentError(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
    const FileDescriptor read_end(ends[0]);
    const FileDescriptor write_end(ends[1]);
    if (::write(write_end.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw EnvironmentError(
            "the variables for tokens hold more than a pipe takes; unset those that hold no token");
    }
    const int kept = ::fcntl(read_end.get(), F_DUPFD, 10);
    if (kept < 0) {
        throw EnvironmentError(std::string("cannot keep a pipe: ") + std::strerror(errno));
    }
    return kept;
}

std::string own_path() {
    std::error_code error;
    const std::string path = std::filesystem::read_symlink("/proc/self/exe", error).string();
    return error || ::access(path.c_str(), X_OK) != 0 ? "/proc/self/exe" : path;
}

std::string checked_token(std::string token, const std::string& where) {
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) {
        token.pop_back();
    }
    const bool printable =
        std::ranges::all_of(token, [](char byte) { return byte > 0x20 && byte < 0x7f; });
    if (token.empty() || token.size() > max_token_bytes || !printable) {
        throw UsageError("what " + where +
                         " holds is no token: it must be one word of printable ASCII");
    }
    return token;
}

}  // namespace

void shed_tokens(char** argv) {
    const std::vector<std::string> names = token_variables();
    std::string held;
    std::string list;
    std::vector<std::string> rest;
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        const std::string name = name_of(*entry);
        if (std::ranges::find(names, name) == names.end()) {
            if (name != handed_over_variable) {
                rest.emplace_back(*entry);
            }
        } else if (const std::string_view value(*entry + name.size() + 1);
                   value.find('\n') == std::string_view::npos) {
            held.append(*entry).append("\n");
            list += value.empty() ? "" : " " + name;
        }
    }
    if (held.empty()) {
        return;
    }
    rest.push_back(fmt::format("{}={}{}", handed_over_variable, pipe_with(held), list));
    std::vector<char*> environment;
    for (std::string& entry : rest) {
        environment.push_back(entry.data());
    }
    environment.push_back(nullptr);
    const std::string path = own_path();
    ::execve(path.c_str(), argv, environment.data());
    throw EnvironmentError("cannot execute '" + path +
                           "' anew without the tokens: " + std::strerror(errno));
}

TokenSource token_source() {
    TokenSource source;
    if (const char* file = std::getenv(token_file_variable)) {
        source.file = file;
    }
    const char* handed_over = std::getenv(handed_over_variable);
    std::istringstream words(handed_over == nullptr ? "" : handed_over);
    std::string word;
    struct stat status {};
    if (words >> word) {
        const auto number = parse_decimal(word);
        if (number && *number > 2 && *number < 1024 &&
            ::fstat(static_cast<int>(*number), &status) == 0 && S_ISFIFO(status.st_mode)) {
            source.pipe = static_cast<int>(*number);
            ::fcntl(source.pipe, F_SETFD, FD_CLOEXEC);
            while (words >> word) {
                source.names.push_back(word);
            }
        }
    }
    return source;
}

void require_token(const TokenSource& source, const TrackerRow& row) {
    const auto held = [&](std::string_view name) {
        return std::ranges::find(source.names, name) != source.names.end();
    };
    if (held(any_token) || !source.file.empty() || std::ranges::any_of(row.token_variables, held)) {
        return;
    }
    std::string variables = any_token;
    for (const std::string_view name : row.token_variables) {
        variables += ", " + std::string(name);
    }
    throw UsageError("no token: give one that may write issues in the environment (" + variables +
                     "), or name a file that holds one in " + token_file_variable);
}

std::string choose_token(const std::string& pipe_content, const std::string& file,
                         const TrackerRow& row) {
    const auto held = [&](std::string_view name) -> std::optional<std::string> {
        std::istringstream lines(pipe_content);
        for (std::string line; std::getline(lines, line);) {
            if (name_of(line) == name && line.size() > name.size() + 1) {
                return line.substr(name.size() + 1);
            }
        }
        return std::nullopt;
    };
    if (const auto token = held(any_token)) {
        return checked_token(*token, any_token);
    }
    if (!file.empty()) {
        return checked_token(read_file(file, max_token_bytes + 2), "'" + file + "'");
    }
    for (const std::string_view name : row.token_variables) {
        if (const auto token = held(name)) {
            return checked_token(*token, std::string(name));
        }
    }
    throw UsageError("no token for " + std::string(row.name));
}

}  // namespace difffuzz

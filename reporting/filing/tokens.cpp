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
// Tells the program executed anew where the tokens are: "FD NAME NAME". "NAME:N" is a variable that
// held something else; N says what was wrong with it.
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

// What can be wrong with a text that is to be a token. Their places are what a process that is
// executed anew is told.
constexpr std::string_view faults[] = {"", "it is empty", "it is longer than 4096 bytes",
                                       "it holds a line break",
                                       "it must be one word of printable ASCII"};

// The place of what is wrong with `token` in `faults`; 0: nothing.
std::size_t fault_of(std::string_view token) {
    const bool printable =
        std::ranges::all_of(token, [](char byte) { return byte > 0x20 && byte < 0x7f; });
    return token.empty()                                           ? 1
           : token.size() > max_token_bytes                        ? 2
           : token.find_first_of("\r\n") != std::string_view::npos ? 3
           : !printable                                            ? 4
                                                                   : 0;
}

std::string_view without_line_ends(std::string_view text) {
    const std::size_t last = text.find_last_not_of("\r\n");
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

[[noreturn]] void refuse_token(const std::string& where, std::string_view fault) {
    throw UsageError("what " + where + " holds is no token: " + std::string(fault));
}

std::string checked_token(std::string_view text, const std::string& where) {
    const std::string_view token = without_line_ends(text);
    if (const std::size_t fault = fault_of(token); fault != 0) {
        refuse_token(where, faults[fault]);
    }
    return std::string(token);
}

std::string token_of_file(const std::string& file) {
    try {
        return checked_token(read_file(file, max_token_bytes + 2), "'" + file + "'");
    } catch (const UsageError& error) {
        throw UsageError(std::string(token_file_variable) + ": " + error.what());
    }
}

}  // namespace

void shed_tokens(char** argv) {
    const std::vector<std::string> names = token_variables();
    std::string held;
    std::string list;
    std::vector<std::string> rest;
    bool found = false;
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        const std::string name = name_of(*entry);
        if (std::ranges::find(names, name) == names.end()) {
            if (name != handed_over_variable) {
                rest.emplace_back(*entry);
            }
            continue;
        }
        found = true;
        const std::string_view text = *entry;
        const std::string_view value =
            without_line_ends(text.substr(std::min(text.size(), name.size() + 1)));
        const std::size_t fault = fault_of(value);
        if (fault == 0) {
            held.append(name).append("=").append(value).append("\n");
        }
        if (!value.empty()) {
            list += " " + name + (fault == 0 ? "" : ":" + std::to_string(fault));
        }
    }
    if (!found) {
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
                const std::size_t colon = word.find(':');
                if (colon == std::string::npos) {
                    source.names.push_back(word);
                } else if (const auto fault = parse_decimal(word.substr(colon + 1));
                           fault && *fault > 0 && *fault < std::size(faults)) {
                    source.unusable.emplace(word.substr(0, colon), faults[*fault]);
                }
            }
        }
    }
    return source;
}

void require_token(const TokenSource& source, const TrackerRow& row) {
    const auto held = [&](std::string_view name) {
        if (const auto found = source.unusable.find(name); found != source.unusable.end()) {
            refuse_token(found->first, found->second);
        }
        return std::ranges::find(source.names, name) != source.names.end();
    };
    if (held(any_token)) {
        return;
    }
    if (!source.file.empty()) {
        token_of_file(source.file);
        return;
    }
    if (std::ranges::any_of(row.token_variables, held)) {
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
        return token_of_file(file);
    }
    for (const std::string_view name : row.token_variables) {
        if (const auto token = held(name)) {
            return checked_token(*token, std::string(name));
        }
    }
    throw UsageError("no token for " + std::string(row.name));
}

}  // namespace difffuzz

// A command to run, and what became of it. Values only; runner.hpp starts it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace difffuzz {

// What one command may take. Every member is enforced by run(); see docs/threat-model.md for how.
struct Limits {
    std::chrono::milliseconds time{10'000};
    // Bytes kept of each stream: the first half of it as a prefix, the rest as a tail.
    std::uint64_t stream_bytes = std::uint64_t{8} << 20;
    // Bytes a stream may carry before the command is ended (the kept part stays stream_bytes).
    std::uint64_t output_bytes = std::uint64_t{64} << 20;
    // RLIMIT_FSIZE, bytes: the apparent size of one file.
    std::uint64_t file_bytes = std::uint64_t{1} << 30;
    // Bytes of storage that the workspace's file system may hold.
    std::uint64_t disk_bytes = std::uint64_t{512} << 20;
    // Sum of the resident sets of all processes of the command, bytes.
    std::uint64_t memory_bytes = std::uint64_t{2} << 30;
    // Processes and threads alive at one time.
    std::uint32_t processes = 128;

    bool operator==(const Limits&) const = default;
};

// One program start. Paths are those seen inside the worker's own root (campaign/execution).
struct Command {
    std::string program;                   // absolute path
    std::vector<std::string> argv;         // argv[0] included
    std::vector<std::string> environment;  // "NAME=value", complete: nothing is inherited
    std::string directory;                 // working directory, absolute
    std::vector<std::string>
        writable;  // the only directories the command may write below, absolute
    std::vector<std::string> readable;  // directories it may read besides (system trees always are)
    Limits limits;
    std::uint32_t file_mask = 022;  // its umask
};

enum class LimitKind { memory, disk, output, processes, file_size };

struct Exited {
    int code = 0;  // 0..255
    bool operator==(const Exited&) const = default;
};
struct Signalled {
    int signal = 0;
    bool core_dumped = false;
    bool operator==(const Signalled&) const = default;
};
// Ended by a limit of ours. Never a crash, never agreement.
struct Limited {
    LimitKind which = LimitKind::memory;
    bool operator==(const Limited&) const = default;
};
struct TimedOut {
    bool operator==(const TimedOut&) const = default;
};
struct FailedToStart {
    int error_number = 0;  // errno of the step that failed
    std::string what;      // which step: "exec", "landlock", ...
    bool operator==(const FailedToStart&) const = default;
};
using Ending = std::variant<Exited, Signalled, Limited, TimedOut, FailedToStart>;

// One output stream as kept: `head` and `tail` do not overlap; when nothing was cut the whole is in
// `head` and `tail` is empty.
struct Stream {
    std::string head;
    std::string tail;
    std::uint64_t observed_bytes = 0;  // all bytes that were written to it, kept or not

    bool cut() const { return observed_bytes > head.size() + tail.size(); }
    bool operator==(const Stream&) const = default;
};

// Measured resource use. Figures are never part of a record; they lie beside it in raw/. Durations
// are never compared.
struct Usage {
    std::uint64_t peak_memory_bytes = 0;  // the largest of ru_maxrss and of the polled sums
    // What its first process handed to write calls, bytes; nothing where the kernel does not tell.
    std::optional<std::uint64_t> written_bytes;
    // Processes and threads started, the first one included; likewise.
    std::optional<std::uint64_t> tasks;
    // Storage in use on the workspace's file system at its end, bytes; 0 if it may write nowhere.
    std::uint64_t disk_bytes = 0;
    std::uint64_t user_us = 0;
    std::uint64_t system_us = 0;
    std::uint64_t wall_us = 0;
};

struct Outcome {
    Ending ending = FailedToStart{};
    Stream out;
    Stream err;
    Usage usage;
    // Processes of this command that still lived when its first process had ended; all were killed.
    std::uint32_t processes_left = 0;
};

// How a command ended, as far as two tools can be held against each other.
enum class OutcomeClass { succeeded, refused, crashed, limited, timed_out, not_started };

OutcomeClass outcome_class(const Ending& ending);

std::string_view to_string(LimitKind kind);
std::string_view to_string(OutcomeClass outcome);

}  // namespace difffuzz

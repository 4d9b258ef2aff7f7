#include "core/tools/runner.hpp"

// GCC 12 sees null pointers in Asio's scheduler where its inlining ends.
#pragma GCC diagnostic ignored "-Wnull-dereference"

// With the standard's paths, Boost.Process 1.81 needs no Boost library to be linked, but forgets
// the three headers that follow.
#define BOOST_PROCESS_USE_STD_FS
#include <boost/optional.hpp>
#include <boost/type_traits/decay.hpp>
#include <boost/type_traits/is_convertible.hpp>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process/v2/posix/vfork_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/tools/capture.hpp"
#include "core/tools/file_descriptor.hpp"
#include "core/tools/ipc_objects.hpp"
#include "core/tools/landlock.hpp"
#include "core/tools/launch.hpp"
#include "core/tools/memory_cgroup.hpp"
#include "core/tools/process_account.hpp"
#include "core/tools/process_survey.hpp"
#include "core/tools/reap.hpp"

namespace difffuzz {
namespace {

namespace asio = boost::asio;
namespace process = boost::process::v2;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A quick command is never polled: most take less than the first wait.
constexpr milliseconds first_poll{15};
constexpr milliseconds next_poll{10};

// Room between the count that ends a command and the one that the kernel refuses, so that a command
// over the limit is seen over it.
constexpr std::uint64_t process_slack = 16;

[[noreturn]] void fail(const std::string& what, int number = errno) {
    throw std::system_error(number, std::generic_category(), what);
}

struct Pipe {
    FileDescriptor read;
    FileDescriptor write;
};

Pipe make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        fail("pipe");
    }
    Pipe pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
    if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        fail("fcntl");
    }
    return pipe;
}

// Boost.Process calls these in the child. The launcher ends a child whose exec failed with exit(),
// which runs the parent's handlers, hence _exit here. It looks for on_exec_error with other
// arguments than it then calls it with, hence any.
struct ChildHooks {
    ChildSetup& setup;

    template <typename... Any>
    boost::system::error_code on_exec_setup(Any&&...) const noexcept {
        return {setup.apply() ? 0 : setup.error_number, boost::system::system_category()};
    }

    template <typename... Any>
    void on_exec_error(Any&&...) const noexcept {
        if (setup.failed_step == nullptr) {
            setup.failed_step = "exec";
            setup.error_number = errno;
        }
        ::_exit(127);
    }
};

// Keeps signals away while parent and child share their memory: a handler of ours must not run in
// the child.
class BlockedSignals {
public:
    BlockedSignals() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
    sigset_t before_;
};

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
    std::vector<const char*> result;
    result.reserve(strings.size() + 1);
    for (const auto& string : strings) {
        result.push_back(string.c_str());
    }
    result.push_back(nullptr);
    return result;
}

std::uint64_t microseconds(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(time.tv_usec);
}

struct DiskUse {
    std::uint64_t used_bytes = 0;
    bool full = false;
};

DiskUse disk_use(const FileDescriptor& directory) {
    struct statfs status {};
    if (::fstatfs(directory.get(), &status) != 0) {
        fail("fstatfs");
    }
    return {(status.f_blocks - status.f_bfree) * static_cast<std::uint64_t>(status.f_bsize),
            (status.f_blocks != 0 && status.f_bavail == 0) ||
                (status.f_files != 0 && status.f_ffree == 0)};
}

}  // namespace

class Runner::Impl {
public:
    explicit Impl(RunnerOptions options)
        : options_(std::move(options)),
          abi_(landlock_abi()),
          landlock_(abi_, options_.readable),
          memory_(options_.memory_cgroup),
          null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
        if (!null_.valid()) {
            fail("/dev/null");
        }
    }

    Outcome run(const Command& command);

    Containment containment() const {
        Containment result;
        result.pid_namespace = true;
        result.landlock = abi_ > 0;
        result.landlock_abi = abi_;
        result.memory_cgroup = memory_.present();
        result.unprivileged_user =
            options_.identity.change ? options_.identity.uid != 0 : ::getuid() != 0;
        return result;
    }

private:
    class Supervision;

    RunnerOptions options_;
    int abi_;
    LandlockRules landlock_;
    MemoryCgroup memory_;
    FileDescriptor null_;
    std::array<char, 65536> buffer_{};
};

// One command from its start to the end of all its processes.
class Runner::Impl::Supervision {
public:
    Supervision(Impl& runner, const Command& command)
        : runner_(runner),
          command_(command),
          out_{Capture(command.limits.stream_bytes), {}},
          err_{Capture(command.limits.stream_bytes), {}},
          directory_(::open(command.directory.c_str(), O_PATH | O_CLOEXEC)) {}

    Outcome run() {
        const auto kills_before = runner_.memory_.kills();
        const auto start = Clock::now();
        if (auto failure = launch()) {
            outcome_.ending = *std::move(failure);
            return std::move(outcome_);
        }
        watch();
        outcome_.usage.wall_us = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
        outcome_.usage.written_bytes = bytes_written(account_);
        outcome_.usage.tasks = tasks_since(pid_);
        const int status = reap();
        const auto left = end_leftovers();
        remove_ipc_objects();
        if (!limit_) {
            outcome_.processes_left = left.processes;
            if (left.threads > command_.limits.processes) {
                limit_ = Limited{LimitKind::processes};
            }
        }
        drain(out_);
        drain(err_);
        outcome_.usage.disk_bytes = command_.writable.empty() ? 0 : disk_use(directory_).used_bytes;
        if (!limit_) {
            limit_ = limit_at_end(status, runner_.memory_.kills() > kills_before);
        }
        outcome_.ending = limit_ ? *limit_ : ending(status);
        outcome_.out = std::move(out_.kept).finish();
        outcome_.err = std::move(err_.kept).finish();
        return std::move(outcome_);
    }

private:
    struct Reader {
        Capture kept;
        std::optional<asio::posix::stream_descriptor> pipe;
    };

    std::optional<FailedToStart> launch() {
        if (!directory_.valid()) {
            return FailedToStart{errno, "directory"};
        }
        auto out = make_pipe();
        auto err = make_pipe();
        ChildSetup setup;
        setup.input = runner_.null_.get();
        setup.output = out.write.get();
        setup.error = err.write.get();
        setup.directory = command_.directory.c_str();
        setup.identity = runner_.options_.identity;
        setup.file_bytes = command_.limits.file_bytes;
        setup.file_mask = command_.file_mask;
        if (runner_.options_.own_user_namespace) {
            setup.processes = command_.limits.processes + process_slack;
        }
        if (runner_.abi_ > 0) {
            try {
                setup.landlock = runner_.landlock_.rule_set(command_.writable, command_.readable);
            } catch (const std::system_error& error) {
                return FailedToStart{error.code().value(), error.what()};
            }
        }
        start(setup);
        if (setup.failed_step != nullptr) {
            ::waitpid(pid_, nullptr, 0);
            return FailedToStart{setup.error_number, setup.failed_step};
        }
        account_ = open_account(pid_);
        // Only now: the launcher tells the context's services of the fork in the child too, and the
        // reactor would answer by opening descriptors anew in memory that parent and child share.
        pidfd_.emplace(context_, open_pidfd());
        out_.pipe.emplace(context_, out.read.release());
        err_.pipe.emplace(context_, err.read.release());
        deadline_.emplace(context_);
        poll_.emplace(context_);
        return std::nullopt;
    }

    void start(ChildSetup& setup) {
        auto argv = pointers(command_.argv);
        const auto environment = pointers(command_.environment);
        const BlockedSignals blocked;
        process::posix::vfork_launcher launcher;
        launcher.env = environment.data();
        boost::system::error_code error;
        auto started =
            launcher(context_.get_executor(), error, process::filesystem::path(command_.program),
                     argv.data(), ChildHooks{setup});
        pid_ = launcher.pid;
        if (pid_ < 0) {
            fail("vfork", error.value());
        }
        // wait4 below reaps it, for the resource use that Boost.Process does not hand out.
        started.detach();
    }

    int open_pidfd() const {
        const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
        if (fd < 0) {
            fail("pidfd_open");
        }
        return fd;
    }

    void watch() {
        read(out_);
        read(err_);
        pidfd_->async_wait(asio::posix::descriptor_base::wait_read,
                           [this](const boost::system::error_code&) { context_.stop(); });
        deadline_->expires_after(command_.limits.time);
        deadline_->async_wait([this](const boost::system::error_code& error) {
            if (!error) {
                end(TimedOut{});
            }
        });
        poll_after(first_poll);
        context_.run();
        if (stuck_) {
            fail("a command does not end on SIGKILL", ETIMEDOUT);
        }
    }

    // Waits and reads by itself: bytes that Asio had read for a handler that no longer runs when
    // the process ends would be lost.
    void read(Reader& reader) {
        reader.pipe->async_wait(asio::posix::descriptor_base::wait_read,
                                [this, &reader](const boost::system::error_code& error) {
                                    if (!error && take(reader)) {
                                        read(reader);
                                    }
                                });
    }

    // Whether there was something to take and may be more.
    bool take(Reader& reader) {
        const auto size =
            ::read(reader.pipe->native_handle(), runner_.buffer_.data(), runner_.buffer_.size());
        if (size <= 0) {
            return size < 0 && (errno == EINTR || errno == EAGAIN);
        }
        reader.kept.append({runner_.buffer_.data(), static_cast<std::size_t>(size)});
        if (reader.kept.observed_bytes() > command_.limits.output_bytes) {
            end(Limited{LimitKind::output});
        }
        return true;
    }

    void poll_after(milliseconds wait) {
        poll_->expires_after(wait);
        poll_->async_wait([this](const boost::system::error_code& error) {
            if (!error && !limit_) {
                poll();
                poll_after(next_poll);
            }
        });
    }

    void poll() {
        const auto survey = survey_processes();
        auto& peak = outcome_.usage.peak_memory_bytes;
        peak = std::max(peak, survey.resident_bytes);
        if (survey.resident_bytes > command_.limits.memory_bytes) {
            end(Limited{LimitKind::memory});
        } else if (survey.threads > command_.limits.processes) {
            end(Limited{LimitKind::processes});
        } else if (disk_exceeded()) {
            end(Limited{LimitKind::disk});
        }
    }

    // A command that may write nowhere has no file system to fill.
    bool disk_exceeded() const {
        if (command_.writable.empty()) {
            return false;
        }
        const auto use = disk_use(directory_);
        return use.full || use.used_bytes > command_.limits.disk_bytes;
    }

    // Ends everything at once; the first reason stands. Its death is waited for by watch().
    void end(Ending reason) {
        if (limit_) {
            return;
        }
        limit_ = std::move(reason);
        kill_all();
        deadline_->expires_after(std::chrono::seconds(reap_seconds));
        deadline_->async_wait([this](const boost::system::error_code& error) {
            if (!error) {
                stuck_ = true;
                context_.stop();
            }
        });
    }

    int reap() {
        int status = 0;
        rusage usage{};
        while (::wait4(pid_, &status, 0, &usage) < 0) {
            if (errno != EINTR) {
                fail("wait4");
            }
        }
        auto& result = outcome_.usage;
        result.user_us = microseconds(usage.ru_utime);
        result.system_us = microseconds(usage.ru_stime);
        result.peak_memory_bytes =
            std::max(result.peak_memory_bytes, static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);
        return status;
    }

    // What is left in a pipe whose writers are all dead: it ends, or is empty.
    void drain(Reader& reader) {
        ssize_t size = 0;
        while ((size = ::read(reader.pipe->native_handle(), runner_.buffer_.data(),
                              runner_.buffer_.size())) > 0 ||
               (size < 0 && errno == EINTR)) {
            if (size > 0) {
                reader.kept.append({runner_.buffer_.data(), static_cast<std::size_t>(size)});
            }
        }
    }

    std::optional<Ending> limit_at_end(int status, bool killed_for_memory) const {
        const auto& limits = command_.limits;
        if (killed_for_memory || outcome_.usage.peak_memory_bytes > limits.memory_bytes) {
            return Limited{LimitKind::memory};
        }
        if (disk_exceeded()) {
            return Limited{LimitKind::disk};
        }
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) {
            return Limited{LimitKind::file_size};
        }
        if (out_.kept.observed_bytes() > limits.output_bytes ||
            err_.kept.observed_bytes() > limits.output_bytes) {
            return Limited{LimitKind::output};
        }
        return std::nullopt;
    }

    static Ending ending(int status) {
        if (WIFSIGNALED(status)) {
            return Signalled{WTERMSIG(status), WCOREDUMP(status) != 0};
        }
        return Exited{WEXITSTATUS(status)};
    }

    Impl& runner_;
    const Command& command_;
    // One per command, not one for all: see launch().
    asio::io_context context_{1};
    std::optional<asio::steady_timer> deadline_;
    std::optional<asio::steady_timer> poll_;
    std::optional<asio::posix::stream_descriptor> pidfd_;
    Reader out_;
    Reader err_;
    FileDescriptor directory_;
    FileDescriptor account_;
    pid_t pid_ = -1;
    std::optional<Ending> limit_;
    bool stuck_ = false;
    Outcome outcome_;
};

Outcome Runner::Impl::run(const Command& command) {
    memory_.set_limit(command.limits.memory_bytes + options_.memory_reserve);
    return Supervision(*this, command).run();
}

Runner::Runner(RunnerOptions options) {
    if (::getpid() != 1) {
        throw std::logic_error("a Runner needs a process that is the first of its PID namespace");
    }
    impl_ = std::make_unique<Impl>(std::move(options));
}

Runner::~Runner() = default;

Outcome Runner::run(const Command& command) { return impl_->run(command); }

Containment Runner::containment() const { return impl_->containment(); }

}  // namespace difffuzz
